"""Makes bodies.json beside it: the payloads of vLLM as Python writes them, and what they are made of."""
import json
import os
def completion(prompt, n, logprobs=None):
    return {"model":"org/M","prompt":prompt,"repetition_penalty":1.0,"max_tokens":n,"logprobs":logprobs,"stream":True,"stream_options":{"include_usage":True}}
def chat(prompt, n, messages=None, media=None):
    content=[{"type":"text","text":prompt}]
    if media is not None: content.append(media)
    return {"model":"org/M","messages":messages if messages is not None else [{"role":"user","content":content}],"max_completion_tokens":n,"stream":True,"stream_options":{"include_usage":True}}
odd="a \"quoted\"\\ \n\r\t\b\f\u0001\u007f é € 😀 </script> \u2028"
cases=[]
def case(name, *, is_chat=False, text=None, ids=None, n=8, extra=(), model="", messages=None, media=None):
    """extra: list of (name, JSON text) as they come from a command line, in any spelling"""
    p = chat(text,n,json.loads(messages) if messages else None, json.loads(media) if media else None) if is_chat else completion(ids if ids is not None else text, n)
    if model: p["model"]=model
    for k,v in extra: p[k]=json.loads(v)
    cases.append(dict(name=name,chat=is_chat,text=text,ids=ids,max_tokens=n,model=model,messages=messages,media=media,
      extra=[dict(name=k,json=v) for k,v in extra], body=json.dumps(p)))
both=[False,True]
case("text",text=odd,n=16)
case("chat",is_chat=True,text=odd,n=7)
case("empty text",text="")
case("token ids",ids=[1,22,333],n=1)
case("no token ids",ids=[])
case("extra fields",text="x",n=2,extra=[("ignore_eos","true"),("repetition_penalty","1.1"),("temperature","0.0")])
for c in both:
    w=" chat" if c else " completion"
    case("sampling"+w,is_chat=c,text="x",extra=[("ignore_eos","true"),("temperature","0.7"),("top_p","1.0"),("top_k","-1"),("min_p","0.05"),
        ("frequency_penalty","-0.5"),("presence_penalty","2.0"),("repetition_penalty","1.1")])
    case("overrides"+w,is_chat=c,text="x",extra=[("model",'"other/model"'),("stream","false"),("max_tokens","99"),("max_completion_tokens","98")])
    case("usage options"+w,is_chat=c,text="x",extra=[("stream_options",'{"include_usage":true,"continuous_usage_stats":true}')])
    case("a model of its own"+w,is_chat=c,text="x",model="lora-é")
    case("a model of its own, overridden"+w,is_chat=c,text="x",model="lora",extra=[("model",'"last"')])
    case("prompt replaced"+w,is_chat=c,text="x",extra=[("prompt",'[1,2]'),("messages",'[ ]')])
    case("one field twice"+w,is_chat=c,text="x",extra=[("seed","1"),("temperature","0"),("seed","2")])
case("logprobs",text="x",extra=[("logprobs","5")])
case("logprobs of nought",text="x",extra=[("logprobs","0"),("echo","true")])
case("chat logprobs",is_chat=True,text="x",extra=[("logprobs","true"),("top_logprobs","20")])
case("nested",is_chat=True,text="x",extra=[("chat_template_kwargs",'{"enable_thinking":false,"a":{"b":[1,2,{"c":null}],"d":{}}, "e":[ ]}'),
    ("stop",'["\\n\\n","</s>"," ,:"]'),("response_format",' {\n "type" :\t"json_schema" , "json_schema":{"schema":{"type":"object","properties":{}}}\r\n}')])
case("unicode",text="日本語 🇫🇷 \u00a0é\u0301",extra=[("stop",'["é","\\u00E9","\\ud83d\\uDE00","😀","\\/","/","\\u002f","\\u0022\\u005C\\u000a\\u0008\\u001f\\u007f"]'),("é",'"ключ"')])
case("half a surrogate pair",text="x",extra=[("stop",'["\\ud800","\\uDC00x","\\ud83d\\ud83d\\ude00"]')])
case("numbers",text="x",extra=[("a",'[0,-0,-0.0,0.0,1.0,1.50,10,1e5,1E5,1e+2,1e-2,0.0001,0.00001,1e15,1e16,123456789012345680000,1.5e300,1e-300,'
    '12345678901234567890123456789,0.1,2.5e-7,1e22,1e23,100000000000000000.0,5e-324,9007199254740993,9007199254740993.0,-1.25E-3]')])
case("messages",is_chat=True,text="x",messages='[{"role":"system","content":"é"},{"role":"user","content":[{"type":"text","text":"<a&b>"}]}]')
case("media",is_chat=True,text="x",media='{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBOR/+w0K=="}}')
case("media in other spelling",is_chat=True,text="x",media=' {"type" : "video_url",\n"video_url":{"url":"file:\\/\\/\\u00e9"}}')
json.dump(cases, open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "bodies.json"), "w"), indent=1)
