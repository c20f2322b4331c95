# The public names of this package; `__init__.py` loads them from here on first use.

from unseen.testing.designs import DESIGN_CHECKS as DESIGN_CHECKS
from unseen.testing.designs import check_design as check_design
from unseen.testing.direct_methods import DIRECT_CHECKS as DIRECT_CHECKS
from unseen.testing.direct_methods import check_direct_method as check_direct_method
from unseen.testing.engines import ENGINE_CHECKS as ENGINE_CHECKS
from unseen.testing.engines import check_engine as check_engine
from unseen.testing.gates import assert_model as assert_model
from unseen.testing.measures import MEASURE_CHECKS as MEASURE_CHECKS
from unseen.testing.measures import check_measure as check_measure
from unseen.testing.nets_measures import NET_MEASURE_CHECKS as NET_MEASURE_CHECKS
from unseen.testing.nets_measures import check_net_measure as check_net_measure
from unseen.testing.pair_tests import PAIR_CHECKS as PAIR_CHECKS
from unseen.testing.pair_tests import check_pair_test as check_pair_test
from unseen.testing.recipes import RECIPE_CHECKS as RECIPE_CHECKS
from unseen.testing.recipes import check_recipe as check_recipe
from unseen.testing.shortcuts import SHORTCUT_CHECKS as SHORTCUT_CHECKS
from unseen.testing.shortcuts import check_shortcut as check_shortcut
from unseen.testing.stores import STORE_CHECKS as STORE_CHECKS
from unseen.testing.stores import check_store as check_store
from unseen.testing.table_methods import TABLE_CHECKS as TABLE_CHECKS
from unseen.testing.table_methods import check_table_method as check_table_method
