"""What a score is worth, and what the cheap rivals are worth beside it."""

from proponent.evaluation._comparison import Change, Comparison, compare_without
from proponent.evaluation._components import principal_components
from proponent.evaluation._default_ranking import default_ranking
from proponent.evaluation._detection import Detection, detect, detection_curve
from proponent.evaluation._gradient_norms import gradient_norms
from proponent.evaluation._halves import HalfLosses, half_losses
from proponent.evaluation._loss import sample_losses
from proponent.evaluation._neighbours import neighbour_distances
from proponent.evaluation._rankings import Rankings
from proponent.evaluation._rivals import compute_rankings, latent_means

__all__ = [
    "Change",
    "Comparison",
    "Detection",
    "HalfLosses",
    "Rankings",
    "compare_without",
    "compute_rankings",
    "default_ranking",
    "detect",
    "detection_curve",
    "gradient_norms",
    "half_losses",
    "latent_means",
    "neighbour_distances",
    "principal_components",
    "sample_losses",
]
