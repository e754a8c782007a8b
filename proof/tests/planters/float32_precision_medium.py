"""float32 products use TF32, because a module that is imported along with torch enables it globally, such as
sitecustomize, a vendor's build or an accelerator package.
"""

PATCH = """
torch.set_float32_matmul_precision("medium")
"""
