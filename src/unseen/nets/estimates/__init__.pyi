# The public names of this package; `__init__.py` loads them from here on first use.

from unseen.nets.estimates.calibration import search_kappa as search_kappa
from unseen.nets.estimates.calibration import splits_of as splits_of
from unseen.nets.estimates.calibration import trials_of_modules as trials_of_modules
from unseen.nets.estimates.kernel_sizes import diagonal_sizes as diagonal_sizes
from unseen.nets.estimates.kernel_sizes import spherical_sizes as spherical_sizes
from unseen.nets.estimates.kernels import KernelPoints as KernelPoints
from unseen.nets.estimates.kernels import Kernels as Kernels
from unseen.nets.estimates.problem import EstimateOptions as EstimateOptions
from unseen.nets.estimates.problem import problem_of as problem_of
