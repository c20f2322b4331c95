"""Deep nets: training side by side, error estimates without retraining, and measures of generalization, for any torch module.

Rooms, lowest first; each uses only those above it in this list:

- ``modules``: torch modules as everything here sees them (device, inputs, logits, layers, architectures, `Net`);
- ``files``: weights, examples, progress of a training;
- ``augmentation``: augmented images, their penalties, sheets that show them;
- ``training``: `fit_many`, `Classifier`, `Monitor`;
- ``estimates`` and ``bayes``: error estimates without retraining; samples of posteriors;
- ``measures``: measures of generalization, one file each or one per family;
- ``zoo``: networks whose gaps are known;
- ``ranking``: `rank`, `bench`, `cmi` and the records they return;
- ``stored_records``, ``sections``, ``figures``, ``commands``: what a store, a report, a plot and the command line show.

``modules``, ``estimates`` and ``bayes`` also list the parts that someone who builds an estimate of their own needs.

Nets compute with one thread of the CPU unless `use_threads` asks for more. The package needs numpy and torch alone (the extra ``torch``), so that it also runs from the source tree on a bare GPU machine.
"""

from unseen.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
