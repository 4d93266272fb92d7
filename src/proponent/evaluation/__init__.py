"""What a score is worth, and what the cheap rivals are worth beside it."""

from proponent.evaluation._detection import Detection, detect, detection_curve
from proponent.evaluation._loss import sample_losses
from proponent.evaluation._neighbours import neighbour_distances

__all__ = ["Detection", "detect", "detection_curve", "neighbour_distances", "sample_losses"]
