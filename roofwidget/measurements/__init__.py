"""What people measured: the result files of benchmark tools, read into one form and one set of units."""

from roofwidget.measurements.measurement import Measurement
from roofwidget.measurements.reading import read
from roofwidget.measurements.record import MeasurementError
from roofwidget.measurements.tools import tools

__all__ = ["Measurement", "MeasurementError", "read", "tools"]
