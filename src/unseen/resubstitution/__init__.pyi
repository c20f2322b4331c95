# The public names of this package; `__init__.py` loads them from here on first use.

from unseen.core.estimate import CalibratedEstimate as CalibratedEstimate
from unseen.core.estimate import SmoothedEstimate as SmoothedEstimate
from unseen.resubstitution import kernels as kernels
from unseen.resubstitution._deviations import Deviations as Deviations
from unseen.resubstitution._deviations import deviations as deviations
from unseen.resubstitution._functions import bayesian as bayesian
from unseen.resubstitution._functions import bolster as bolster
from unseen.resubstitution._functions import bolster_posterior as bolster_posterior
from unseen.resubstitution._functions import bolster_posterior_accuracy as bolster_posterior_accuracy
from unseen.resubstitution._functions import bolster_posterior_product as bolster_posterior_product
from unseen.resubstitution._functions import calibrated_bolster as calibrated_bolster
from unseen.resubstitution._functions import calibrated_naive_bayes_bolster as calibrated_naive_bayes_bolster
from unseen.resubstitution._functions import naive_bayes_bolster as naive_bayes_bolster
from unseen.resubstitution._functions import posterior as posterior
from unseen.resubstitution._functions import resub as resub
from unseen.resubstitution._functions import semi_bolster as semi_bolster
from unseen.resubstitution._kernel_view import KernelView as KernelView
from unseen.resubstitution._kernel_view import view as view
from unseen.resubstitution._scorer import scorer as scorer
from unseen.resubstitution._scorer import whole_sample as whole_sample
