"""The one place that opens model files: skops and ONNX, in a process of their own."""
