"""The backend for opaque primitives, and the fallback for every other. In: one primitive. Out: an ONNX model."""
