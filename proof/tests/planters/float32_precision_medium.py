"""float32 products are made in TF32, because something that is imported with torch says so for all: sitecustomize, a
vendor's build, an accelerator package.
"""

PATCH = """
torch.set_float32_matmul_precision("medium")
"""
