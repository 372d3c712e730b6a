"""Programs that were written for onnxruntime, which nobody has changed."""

from __future__ import annotations

import numpy as np
import pytest

import korch


@pytest.mark.slow
@pytest.mark.nightly
def test_rapidocr_reads_the_same(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KORCH_TUNE", "off")
    pytest.importorskip("rapidocr_onnxruntime")
    from PIL import Image, ImageDraw, ImageFont

    page = Image.new("RGB", (480, 120), "white")
    ImageDraw.Draw(page).text((20, 40), "Optimal Kernels", fill="black", font=ImageFont.load_default(size=32))
    image = np.array(page)[:, :, ::-1].copy()
    import onnxruntime
    from rapidocr_onnxruntime import RapidOCR
    from rapidocr_onnxruntime.utils import infer_engine

    found = []
    for session in (onnxruntime.InferenceSession, korch.InferenceSession):
        monkeypatch.setattr(infer_engine, "InferenceSession", session)
        found.append([text for _, text, _ in RapidOCR()(image)[0]])
    assert found[0] == found[1] and "Kernels" in found[0][0]
