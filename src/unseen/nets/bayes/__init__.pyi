# The public names of this package; `__init__.py` loads them from here on first use.

from unseen.nets.bayes.batched_sampler import prior_scales as prior_scales
from unseen.nets.bayes.batched_sampler import sample_many as sample_many
from unseen.nets.bayes.chains import effective_size as effective_size
from unseen.nets.bayes.chains import largest_r_hat as largest_r_hat
