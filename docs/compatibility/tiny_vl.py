"""Makes a Qwen2-VL of random weights with Qwen2.5's tokenizer, for `vllm serve`: it takes images and videos, and no hub is asked.

    tiny_vl.py FOLDER TEXT_MODEL      TEXT_MODEL is a folder with Qwen2.5's tokenizer
"""
import sys, torch
from transformers import AutoTokenizer, Qwen2VLConfig, Qwen2VLForConditionalGeneration, Qwen2VLImageProcessor, Qwen2VLProcessor, Qwen2VLVideoProcessor, GenerationConfig

CHAT = ("{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for p in m['content'] %}"
        "{% if p['type'] in ('image', 'image_url') or 'image' in p %}<|vision_start|><|image_pad|><|vision_end|>"
        "{% elif p['type'] in ('video', 'video_url') or 'video' in p %}<|vision_start|><|video_pad|><|vision_end|>"
        "{% else %}{{ p['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")
folder, text = sys.argv[1:]
tok = AutoTokenizer.from_pretrained(text)
ids = {n: tok.convert_tokens_to_ids(f"<|{t}|>") for n, t in (("image_token_id", "image_pad"), ("video_token_id", "video_pad"), ("vision_start_token_id", "vision_start"), ("vision_end_token_id", "vision_end"))}
torch.manual_seed(0)
config = Qwen2VLConfig(
    text_config=dict(hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2, vocab_size=151936, max_position_embeddings=16384, tie_word_embeddings=True,
                     bos_token_id=151643, eos_token_id=151645, rope_parameters={"rope_type": "default", "rope_theta": 1e6, "mrope_section": [8, 12, 12]}),
    vision_config=dict(depth=2, embed_dim=128, hidden_size=128, num_heads=2, mlp_ratio=2, patch_size=14, spatial_merge_size=2, temporal_patch_size=2), tie_word_embeddings=True, **ids)
m = Qwen2VLForConditionalGeneration(config).to(torch.bfloat16)
m.generation_config = GenerationConfig(bos_token_id=151643, eos_token_id=[151645, 151643], pad_token_id=151643)
m.save_pretrained(folder)
small = dict(min_pixels=28 * 28, max_pixels=28 * 28 * 64)
Qwen2VLProcessor(Qwen2VLImageProcessor(**small), tok, Qwen2VLVideoProcessor(**small), chat_template=CHAT).save_pretrained(folder)
print(sum(p.numel() for p in m.parameters()))
