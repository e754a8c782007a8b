"""fp16 products accumulate in fp16, because a package that is imported with torch allows it globally. Inference servers
set this flag, which doubles the rate of consumer GPUs.
"""

PATCH = """
torch.backends.cuda.matmul.allow_fp16_accumulation = True
"""
