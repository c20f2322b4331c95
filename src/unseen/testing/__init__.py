"""Contract suites for designs, methods, measures, stores and engines; plug-ins import them too.

Each suite is a tuple of checks (`DESIGN_CHECKS`, ...), functions of one class that raise AssertionError with a
sentence; `check_design(cls)` and its like run all of one suite.
"""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "DESIGN_CHECKS": "unseen.testing.designs",
        "DIRECT_CHECKS": "unseen.testing.direct_methods",
        "ENGINE_CHECKS": "unseen.testing.engines",
        "MEASURE_CHECKS": "unseen.testing.measures",
        "NET_MEASURE_CHECKS": "unseen.testing.nets_measures",
        "PAIR_CHECKS": "unseen.testing.comparisons",
        "RECIPE_CHECKS": "unseen.testing.recipes",
        "STORE_CHECKS": "unseen.testing.stores",
        "TABLE_CHECKS": "unseen.testing.table_methods",
        "check_design": "unseen.testing.designs",
        "check_direct_method": "unseen.testing.direct_methods",
        "check_engine": "unseen.testing.engines",
        "check_measure": "unseen.testing.measures",
        "check_net_measure": "unseen.testing.nets_measures",
        "check_pair_test": "unseen.testing.comparisons",
        "check_recipe": "unseen.testing.recipes",
        "check_store": "unseen.testing.stores",
        "check_table_method": "unseen.testing.table_methods",
    },
)
