# Makes the Parquet files here and the rows that pyarrow reads from them: python make.py (pyarrow 26.0.1)
import base64, datetime, decimal, json, math, random, uuid
import pyarrow as pa, pyarrow.parquet as pq

random.seed(0)


def plain(v):
    """The value as JSON has it: binary in base64, times in ISO 8601, decimals as strings that are compared as numbers."""
    if isinstance(v, bytes):
        return base64.b64encode(v).decode()
    if isinstance(v, (datetime.date, datetime.datetime, datetime.time)):
        return v.isoformat()
    if isinstance(v, uuid.UUID):
        return str(v)
    if isinstance(v, decimal.Decimal):
        return float(v)
    if isinstance(v, float) and (math.isnan(v) or math.isinf(v)):
        return None if math.isnan(v) else ("1e999" if v > 0 else "-1e999")
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, list):
        return [plain(x) for x in v]
    return v


def write(name, table, **options):
    pq.write_table(table, name + ".parquet", **options)
    with open(name + ".jsonl", "w") as f:
        for row in pq.read_table(name + ".parquet").to_pylist(maps_as_pydicts="strict"):
            f.write(json.dumps(plain(row), ensure_ascii=False) + "\n")


words = "the of and to in is you that it he was for on are as with his they".split()
text = lambda n: " ".join(random.choice(words) for _ in range(n))

# As the data sets of the hub are: a picture, a chat, a text of a few that repeat, a long text.
picture = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
chat = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
hub = pa.table({
    "image": pa.array([None if i % 11 == 3 else {"bytes": random.randbytes(i % 50), "path": None if i % 3 else f"{i}.png"} for i in range(70)], picture),
    "conversation": pa.array([None if i % 13 == 5 else [{"role": "user" if j % 2 == 0 else "assistant", "content": None if j == 3 else text(j)} for j in range(i % 5)] for i in range(70)], chat),
    "images": pa.array([[{"bytes": random.randbytes(3), "path": None}] * (i % 3) for i in range(70)], pa.list_(picture)),
    "language": pa.array([random.choice(["python", "go", "c"]) for _ in range(70)]).dictionary_encode(),
    "problem": pa.array([text(i % 7) + ' "quoted"\n\t\\ é 漢 😀' for i in range(70)], pa.large_string()),
    "label": pa.array([None if i % 4 == 0 else i for i in range(70)], pa.int64()),
})
write("hub", hub, row_group_size=30)
write("hub_zstd_index", hub.slice(0, 60), row_group_size=40, compression="zstd", write_page_index=True, data_page_size=200, write_batch_size=4, write_page_checksum=True)
write("hub_v2_gzip", hub.slice(0, 60), row_group_size=40, compression="gzip", data_page_version="2.0", data_page_size=100, write_batch_size=3)
write("hub_plain", hub.slice(40, 30), row_group_size=40, compression="none", use_dictionary=False, data_page_size=100, write_batch_size=3)
write("hub_snappy_v2", hub.slice(0, 30), data_page_version="2.0", write_page_index=True, data_page_size=64, write_batch_size=2)

# Every type of a value.
utc, day = datetime.timezone.utc, datetime.datetime(2024, 2, 29, 12, 34, 56)
some = lambda values, kind: pa.array([values[i % len(values)] for i in range(7)], kind)
types = pa.table({
    "bool": some([True, None, False], pa.bool_()),
    "int8": some([-128, 127, None], pa.int8()), "uint8": some([0, 255], pa.uint8()),
    "int32": some([-2**31, 2**31 - 1, None], pa.int32()), "uint32": some([0, 2**32 - 1], pa.uint32()),
    "int64": some([-2**63, 2**63 - 1, None], pa.int64()), "uint64": some([0, 2**64 - 1], pa.uint64()),
    "half": pa.array([0.5, -2.0, None, 65504.0, 6e-08, float("inf"), float("nan")], pa.float16()),
    "float": some([0.1, -1e30, None, float("nan"), float("-inf")], pa.float32()),
    "double": some([0.1, 1e22, 1e-7, 3.0, None, float("inf")], pa.float64()),
    "string": some(["", "\x00\x1f\x7f\u2028", None], pa.string()),
    "binary": some([b"", b"\xff\x00", None], pa.binary()), "fixed": some([b"abc", None], pa.binary(3)),
    "decimal32": some([decimal.Decimal("1.50"), decimal.Decimal("-0.07"), None], pa.decimal128(5, 2)),
    "decimal128": some([decimal.Decimal("12345678901234567890.125"), decimal.Decimal("-0.001")], pa.decimal128(30, 3)),
    "date": some([day.date(), datetime.date(1900, 1, 1), None], pa.date32()),
    "time_ms": some([datetime.time(1, 2, 3, 4000), datetime.time(0)], pa.time32("ms")), "time_us": some([datetime.time(23, 59, 59, 999999)], pa.time64("us")),
    "ms": some([day, datetime.datetime(1900, 1, 1, 0, 0, 0, 5000)], pa.timestamp("ms")), "us": some([day, datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)], pa.timestamp("us")),
    "utc": some([day.replace(tzinfo=utc), None], pa.timestamp("us", "UTC")), "seconds": some([day], pa.timestamp("s")),
    "null": pa.nulls(7),
    "map": pa.array([[("a", 1), ("b", None)], None, [], [("c", 3)], [], [], []], pa.map_(pa.string(), pa.int32())),
    "nested": pa.array([[[1, None], None, []], None, [], [[]], [[2]], [None], [[3, 4], [5]]], pa.list_(pa.list_(pa.int16()))),
    "deep": pa.array([{"a": {"b": [{"c": [1, 2]}, {"c": None}, None]}}, {"a": None}, None, {"a": {"b": None}}, {"a": {"b": []}}, {"a": {"b": [{"c": []}]}}, {"a": {"b": [None]}}],
                     pa.struct([("a", pa.struct([("b", pa.list_(pa.struct([("c", pa.list_(pa.int32()))])))]))])),
})
write("types", types)
write("types_older", types.drop_columns(["time_ms"]), version="1.0", store_schema=False)
write("lists_older", types.select(["nested", "deep", "map"]), use_compliant_nested_type=False)
write("int96", types.select(["us"]), use_deprecated_int96_timestamps=True)

# Every encoding of values.
n = 100
encodings = pa.table({
    "delta": pa.array([i * i - 7 * (i % 9) for i in range(n)], pa.int64()), "delta32": pa.array([None if i % 5 == 0 else (-1)**i * i for i in range(n)], pa.int32()),
    "length": pa.array([text(i % 4) for i in range(n)]), "bytes": pa.array(["prefix/" * (i % 3) + str(i) for i in range(n)]),
    "fixed": pa.array([b"%04d" % i for i in range(n)], pa.binary(4)), "split": pa.array([i / 7 for i in range(n)], pa.float32()),
    "split64": pa.array([None if i % 3 else i / 7 for i in range(n)], pa.float64()), "rle": pa.array([i % 17 < 9 for i in range(n)]),
    "dictionary": pa.array([i // 9 for i in range(n)], pa.int64()), "constant": pa.array([7] * n, pa.int32()),
})
of = {"delta": "DELTA_BINARY_PACKED", "delta32": "DELTA_BINARY_PACKED", "length": "DELTA_LENGTH_BYTE_ARRAY", "bytes": "DELTA_BYTE_ARRAY", "fixed": "DELTA_BYTE_ARRAY",
      "split": "BYTE_STREAM_SPLIT", "split64": "BYTE_STREAM_SPLIT", "rle": "RLE"}
write("encodings", encodings, use_dictionary=["dictionary", "constant"], column_encoding=of, data_page_version="2.0", data_page_size=200, write_batch_size=20, compression="zstd")

write("empty", types.slice(0, 0))
write("hub_brotli", hub.slice(50), compression="brotli", data_page_size=100, write_batch_size=3)
pq.write_table(pa.table({"a": [1]}), "codec.parquet", compression="lz4")

# As other programs write them.
import duckdb, fastparquet, polars

few = hub.slice(0, 40).drop_columns(["label", "image", "images"])
polars.from_arrow(few).write_parquet("polars.parquet", row_group_size=15, data_page_size=300)
duckdb.register("few", few)
for version in ["v1", "v2"]:
    duckdb.sql(f"""copy (select *, uuid() as id, row_number() over () as n, (n * n / 7)::decimal(18, 3) as price, n::utinyint as byte, n::ubigint as long, map([n::varchar], [n]) as pairs,
        make_timestamptz(n * 1000001) as utc, [[n], [], [n, n + 1]] as lists from few) to 'duckdb_{version}.parquet' (format parquet, parquet_version {version}, codec {'zstd' if version == 'v2' else 'snappy'})""")
fastparquet.write("fastparquet.parquet", few.drop_columns(["conversation"]).to_pandas(), compression="GZIP", row_group_offsets=15)
for name in ["polars", "duckdb_v1", "duckdb_v2", "fastparquet"]:
    with open(name + ".jsonl", "w") as f:
        for row in pq.read_table(name + ".parquet").to_pylist(maps_as_pydicts="strict"):
            f.write(json.dumps(plain(row), ensure_ascii=False) + "\n")
