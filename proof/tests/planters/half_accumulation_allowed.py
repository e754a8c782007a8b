"""fp16 products accumulate in fp16, because a package that is imported along with torch allows it globally. Inference
servers set this flag, which doubles the speed on consumer GPUs.
"""

PATCH = """
torch.backends.cuda.matmul.allow_fp16_accumulation = True
"""
