"""Models as ONNX graphs, which predict where there is no Python.

The graph is the whole way from raw inputs to predictions in the unit of y: the steps of a
pipeline, the scaling of inputs, all networks and the scaling of targets. Inside it counts in
float64 whatever the dtype at its border: steep nodes and output weights that cancel each other
would cost float32 more digits than a prediction has.
"""

from .export import CannotExport, save_onnx, to_onnx

__all__ = ["CannotExport", "save_onnx", "to_onnx"]
