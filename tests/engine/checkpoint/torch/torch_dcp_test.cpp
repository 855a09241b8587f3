// SPDX-License-Identifier: Apache-2.0
#include <QTemporaryDir>
#include <QTest>
#include <random>

#include "engine/checkpoint/torch/dcp.h"
#include "engine/checkpoint/torch/torch.h"
#include "engine/checkpoint/torch/torch_save.h"
#include "ptc/packed.h"
#include "tests/engine/checkpoint/torch/torch_builder.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
namespace fs = std::filesystem;
namespace p = test::pickle;
using checkpoint::Checkpoint;
using test::ChunkSpec;
using test::DcpSpec;

namespace {

using Opened = Result<std::shared_ptr<const Checkpoint>>;

/// A float32 chunk of consecutive numbers from `first`, row-major or (of rank 2) column-major.
ChunkSpec Chunk(std::vector<std::int64_t> begin, std::vector<std::int64_t> size, float first,
                const std::string& file = "__0_0.distcp", bool column_major = false) {
  std::int64_t count = 1;
  for (const std::int64_t extent : size) count *= extent;
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(first + static_cast<float>(i));
  std::vector<std::int64_t> strides(size.size(), 1);
  for (std::size_t d = size.size(); d > 1; --d) strides[d - 2] = strides[d - 1] * size[d - 1];
  if (column_major) strides = {1, size[0]};
  return {std::move(begin), size,
          test::TorchSave({"FloatStorage", test::Floats(values), count, size, strides}), file};
}

/// w [4,3]: rows 0-1 from one file, rows 2-3 column-major from another; a scalar, a tensor without
/// elements, a Python object.
DcpSpec Small() {
  return {{{"w",
            "float32",
            {4, 3},
            {Chunk({0, 0}, {2, 3}, 0), Chunk({2, 0}, {2, 3}, 6, "__1_0.distcp", true)}},
           {"s", "float32", {}, {Chunk({}, {}, 42)}},
           {"empty", "float32", {0, 3}, {Chunk({0, 0}, {0, 3}, 0)}}},
          {{"step", "pickled"}}};
}

std::string Said(const Opened& opened) { return opened ? "opened" : opened.error().ToString(); }

/// Reads all of all tensors; the first error.
Status ReadAll(const Checkpoint& checkpoint) {
  for (std::size_t t = 0; t < checkpoint.tensors().size(); ++t) {
    const auto& tensor = checkpoint.tensors()[t];
    const auto whole = ptc::Box::Whole(tensor.shape);
    if (!whole) continue;
    const auto bytes = whole->num_elements() * ptc::SizeBytes(tensor.dtype);
    std::vector<std::byte> out(static_cast<std::size_t>(bytes));
    TESSERA_RETURN_IF_ERROR(checkpoint.Read(static_cast<int>(t), *whole, out));
  }
  return OkStatus();
}

std::vector<float> ReadFloats(const Checkpoint& checkpoint, const std::string& name,
                              const ptc::Box& box) {
  std::vector<float> values(static_cast<std::size_t>(box.num_elements()));
  const auto status =
      checkpoint.Read(*checkpoint.Find(name), box, std::as_writable_bytes(std::span(values)));
  if (!status) qWarning("%s", status.error().ToString().c_str());
  return status ? values : std::vector<float>();
}

}  // namespace

class TorchDcpTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir m_dir;
  int m_number = 0;
  fs::path fresh() { return fs::path(m_dir.path().toStdString()) / std::to_string(m_number++); }

 private slots:
  void readsChunksOfAnyStride() {
    const fs::path folder = fresh();
    test::WriteDcp(folder, Small());
    const Opened opened = Checkpoint::Open(folder.string());
    QVERIFY2(opened, Said(opened).c_str());
    const Checkpoint& c = **opened;
    QCOMPARE(c.format(), checkpoint::Format::kTorchDcp);
    QCOMPARE(c.files().size(), std::size_t{2});
    QCOMPARE(c.opaque(), std::vector<std::string>{"step"});
    QCOMPARE(c.metadata().at("version"), std::string("1.0.0"));
    QCOMPARE(c.tensors().size(), std::size_t{3});
    QCOMPARE(c.tensors()[0].name, std::string("empty"));
    QVERIFY(c.tensors()[0].boxes.empty());
    // Rows 2 and 3 lie in columns: 6 8 10 / 7 9 11.
    QCOMPARE(ReadFloats(c, "w", *ptc::Box::Whole({4, 3})),
             (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 8, 10, 7, 9, 11}));
    const std::vector<ptc::Interval> middle = {{1, 3}, {1, 3}};
    QCOMPARE(ReadFloats(c, "w", *ptc::Box::Make(middle)), (std::vector<float>{4, 5, 8, 10}));
    QCOMPARE(ReadFloats(c, "s", ptc::Box::Scalar()), std::vector<float>{42});
  }

  void whatIsNotKnownIsNamed() {
    const fs::path folder = fresh();
    DcpSpec spec = Small();
    spec.more_fields = {{p::Text("x"), p::Call(p::Global("os", "system"), {p::Text("x")})}};
    test::WriteDcp(folder, spec);
    test::WriteFile(folder / "__7_0.distcp", "stray");
    const Opened opened = Checkpoint::Open(folder.string());
    QVERIFY2(opened, Said(opened).c_str());
    QVERIFY(ReadAll(**opened));
    QCOMPARE((*opened)->UnreadFiles(),
             std::vector<std::string>{"'__7_0.distcp' is not read: .metadata does not name it"});
  }

  void fourBitsCountInPairs() {
    const fs::path folder = fresh();
    const auto archive = [](const char* bytes) {
      const std::string storage =
          p::Tuple({p::Text("storage"), p::Global("torch.storage", "UntypedStorage"), p::Text("0"),
                    p::Text("cpu"), p::Int(2)}) +
          "Q";
      return test::TorchSave(p::Call(p::Global("torch._utils", "_rebuild_tensor_v3"),
                                     {storage, p::Int(0), p::Ints({1, 2}), p::Ints({2, 1}), "\x89",
                                      "}", p::Global("torch", "float4_e2m1fn_x2")}),
                             {bytes});
    };
    test::WriteDcp(folder, {{{"q",
                              "float4_e2m1fn_x2",
                              {1, 4},
                              {{{0, 0}, {1, 2}, archive("ab"), "__0_0.distcp"},
                               {{0, 2}, {1, 2}, archive("cd"), "__0_0.distcp"}}}}});
    const Opened opened = Checkpoint::Open(folder.string());
    QVERIFY2(opened, Said(opened).c_str());
    QVERIFY(((*opened)->tensors()[0].shape == ptc::Shape{1, 8}));
    std::string bytes(4, '\0');
    const auto units = ptc::UnitShape(ptc::DType::kF4, {1, 8});
    QVERIFY(units.has_value());
    const Status read =
        (*opened)->Read(0, *ptc::Box::Whole(*units), std::as_writable_bytes(std::span(bytes)));
    QVERIFY2(read, read ? "" : read.error().ToString().c_str());
    QCOMPARE(bytes, std::string("abcd"));
  }

  void anArchiveIsOpenedWhenItIsRead() {
    const fs::path folder = fresh();
    test::WriteDcp(folder, Small());
    const fs::path file = folder / "__1_0.distcp";
    test::WriteFile(file, std::string(fs::file_size(file), 'x'));
    const Opened opened = Checkpoint::Open(folder.string());
    QVERIFY2(opened, Said(opened).c_str());
    QCOMPARE(ReadFloats(**opened, "s", ptc::Box::Scalar()), std::vector<float>{42});
    const Status status = ReadAll(**opened);
    QVERIFY(!status);
    QVERIFY2(status.error().ToString().starts_with(file.string() + ": byte 0: not a zip archive"),
             status.error().ToString().c_str());
  }

  void refuses_data() {
    QTest::addColumn<int>("which");
    QTest::addColumn<QString>("message");
    int which = 0;
    for (const auto& [name, message] : std::initializer_list<std::pair<const char*, const char*>>{
             {"overlapping chunks", "tensor 'w': range [1:2,0:3] of shape [4,3] is stored twice"},
             {"a missing chunk", "tensor 'w': range [2:4,0:3] of shape [4,3] is in no file"},
             {"a chunk outside the shape", "chunk [2,3] at [3,0] lies outside the shape [4,3]"},
             {"a chunk that lies in no file", "chunk [2:4,0:3] is in no file"},
             {"an unknown dtype", "tessera has no dtype torch.complex128"},
             {"a dtype that is none", "tessera has no dtype torch.load"},
             {"a length beyond the file", "the file ends at byte"},
             {"a file outside the folder", "file '../__0_0.distcp' lies outside the folder"},
             {"a blob too small", "does not fit into the 8 bytes it has in '__0_0.distcp'"},
             {"a compressed blob", "was compressed or encrypted"},
             {"another class", "not a Metadata of torch.distributed.checkpoint"},
             {"a tensor twice", "entry 's' appears twice"},
             {"another rank", "a chunk has 1 offsets and 1 sizes in the shape [4,3]"},
             {"a name with a line break", "is not printable text"}}) {
      QTest::newRow(name) << which++ << QString::fromLatin1(message);
    }
  }
  void refuses() {
    QFETCH(int, which);
    QFETCH(QString, message);
    DcpSpec spec = Small();
    auto& w = spec.tensors[0];
    const std::function<void()> changes[] = {
        [&] {
          w.chunks[0] = Chunk({0, 0}, {2, 3}, 0), w.chunks[1] = Chunk({1, 0}, {3, 3}, 0);
        },
        [&] { w.chunks.pop_back(); },
        [&] {
          w.chunks[1] = Chunk({3, 0}, {2, 3}, 0);
        },
        [&] { w.chunks[1].is_stored = false; },
        [&] { w.dtype = "complex128"; },
        [&] { w.dtype = "load"; },
        [&] { spec.length_excess = 1; },
        [&] { spec.path_prefix = "../"; },
        [&] { w.chunks[0].blob = "too few."; },
        [&] { spec.transforms = p::List({p::Text("zstd")}); },
        [&] { spec.metadata_class = "StorageMeta"; },
        [&] {
          spec.tensors.push_back({"s", "float32", {}, {}});
        },
        [&] { w.chunks[1] = Chunk({2}, {2}, 0); },
        [&] { w.name = "a\nb"; },
    };
    changes[which]();
    const fs::path folder = fresh();
    test::WriteDcp(folder, spec);
    const Opened opened = Checkpoint::Open(folder.string());
    QVERIFY(!opened);
    const std::string said = Said(opened);
    QVERIFY2(said.find(message.toStdString()) != std::string::npos, said.c_str());
    QVERIFY(said.find('\n') == std::string::npos);
  }

  void whatAnArchiveHoldsIsCompared_data() {
    QTest::addColumn<QByteArray>("blob");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* name, const std::string& blob, const char* message) {
      QTest::newRow(name) << QByteArray::fromStdString(blob) << QString::fromLatin1(message);
    };
    const std::string bytes(24, '\0');
    row("another dtype", test::TorchSave({"IntStorage", bytes, 6, {2, 3}, {3, 1}}),
        "the archive holds i32 [2,3], .metadata has f32 [2,3]");
    row("another shape", test::TorchSave({"FloatStorage", bytes, 6, {3, 2}, {2, 1}}),
        "the archive holds f32 [3,2], .metadata has f32 [2,3]");
    row("no tensor", test::TorchSave(p::Text("text"), {}), "the archive holds no tensor");
    row("strides beyond the storage", test::TorchSave({"FloatStorage", bytes, 6, {2, 3}, {4, 1}}),
        "do not lie in storage '0'");
    row("strides beyond 2^63",
        test::TorchSave({"FloatStorage", bytes, 6, {2, 3}, {INT64_MAX, INT64_MAX}}),
        "do not lie in storage '0'");
    row("a negative stride", test::TorchSave({"FloatStorage", bytes, 6, {2, 3}, {-1, 1}}),
        "the stride of a tensor is not a tuple of integers from 0");
    row("an offset beyond the storage",
        test::TorchSave({"FloatStorage", bytes, 6, {2, 3}, {3, 1}, 1}),
        "do not lie in storage '0'");
    row("a storage of another size", test::TorchSave({"FloatStorage", bytes, 7, {2, 3}, {3, 1}}),
        "its 7 elements of 4 bytes do not fit that");
    row("a complex storage", test::TorchSave({"ComplexDoubleStorage", bytes, 3, {2, 3}, {3, 1}}),
        "tessera has no dtype for elements of torch.ComplexDoubleStorage");
    row("no storage",
        test::TorchSave(test::TensorCall({"FloatStorage", "", 6, {2, 3}, {3, 1}}, "9"), {bytes}),
        "storage '9' is not in the archive");
  }
  void whatAnArchiveHoldsIsCompared() {
    QFETCH(QByteArray, blob);
    QFETCH(QString, message);
    DcpSpec spec = Small();
    spec.tensors[0].chunks[0].blob = blob.toStdString();
    const fs::path folder = fresh();
    test::WriteDcp(folder, spec);
    const Opened opened = Checkpoint::Open(folder.string());
    QVERIFY2(opened, Said(opened).c_str());
    const Status status = ReadAll(**opened);
    QVERIFY(!status);
    const std::string said = status.error().ToString();
    QVERIFY2(said.find(message.toStdString()) != std::string::npos, said.c_str());
    QVERIFY(said.find(": byte ") != std::string::npos && said.find('\n') == std::string::npos);
  }

  // .metadata may give one archive to several tensors; what the archive holds decides for each.
  void anArchiveNamedTwiceIsComparedTwice_data() {
    QTest::addColumn<QString>("dtype");
    QTest::addColumn<QList<qint64>>("shape");
    QTest::addColumn<QString>("message");
    QTest::newRow("more dims") << "float32" << QList<qint64>{2, 1, 3}
                               << "the archive holds f32 [2,3], .metadata has f32 [2,1,3]";
    QTest::newRow("fewer dims") << "float32" << QList<qint64>{6}
                                << "the archive holds f32 [2,3], .metadata has f32 [6]";
    QTest::newRow("other dims") << "float32" << QList<qint64>{3, 2}
                                << "the archive holds f32 [2,3], .metadata has f32 [3,2]";
    QTest::newRow("wider elements")
        << "int64" << QList<qint64>{2, 3} << "the archive holds f32 [2,3], .metadata has i64 [2,3]";
    QTest::newRow("the same") << "float32" << QList<qint64>{2, 3} << QString();
  }
  void anArchiveNamedTwiceIsComparedTwice() {
    QFETCH(QString, dtype);
    QFETCH(QList<qint64>, shape);
    QFETCH(QString, message);
    const std::vector<std::int64_t> size(shape.begin(), shape.end());
    ChunkSpec first = Chunk({0, 0}, {2, 3}, 7);
    ChunkSpec second = first;
    second.begin.assign(size.size(), 0);
    second.size = size;
    second.shares_archive = true;
    const fs::path folder = fresh();
    test::WriteDcp(
        folder, {{{"a", "float32", {2, 3}, {first}}, {"b", dtype.toStdString(), size, {second}}}});
    const Opened opened = Checkpoint::Open(folder.string());
    QVERIFY2(opened, Said(opened).c_str());
    QCOMPARE(ReadFloats(**opened, "a", *ptc::Box::Whole({2, 3})),
             (std::vector<float>{7, 8, 9, 10, 11, 12}));  // the archive is known from here on
    const Status status = ReadAll(**opened);
    QCOMPARE(status.has_value(), message.isEmpty());
    if (status) return;
    const std::string said = status.error().ToString();
    QVERIFY2(said.find(message.toStdString()) != std::string::npos, said.c_str());
    QVERIFY(said.starts_with((folder / "__0_0.distcp: byte 0: tensor 'b': ").string()));
  }

  // Rows of a saved tensor may overlap in its storage. Then elements lie before those that were
  // read just before them, and more of them than one read takes.
  void rowsThatOverlapAreRead() {
    constexpr std::int64_t kColumns = 20000;
    std::vector<float> storage(2 * kColumns + 2);
    for (std::size_t i = 0; i < storage.size(); ++i) storage[i] = static_cast<float>(i);
    ChunkSpec chunk{
        {0, 0},
        {2, kColumns},
        test::TorchSave(
            {"FloatStorage", test::Floats(storage), std::ssize(storage), {2, kColumns}, {3, 2}}),
        "__0_0.distcp"};
    const fs::path folder = fresh();
    test::WriteDcp(folder, {{{"w", "float32", {2, kColumns}, {chunk}}}});
    const Opened opened = Checkpoint::Open(folder.string());
    QVERIFY2(opened, Said(opened).c_str());
    std::vector<float> expected;
    for (std::int64_t row = 0; row < 2; ++row) {
      for (std::int64_t column = 0; column < kColumns; ++column) {
        expected.push_back(static_cast<float>(3 * row + 2 * column));
      }
    }
    QVERIFY(ReadFloats(**opened, "w", *ptc::Box::Whole({2, kColumns})) == expected);
  }

  void aFolderCutAtEachByteIsAnError() {
    const fs::path folder = fresh();
    test::WriteDcp(folder, Small());
    for (const char* name : {".metadata", "__0_0.distcp", "__1_0.distcp"}) {
      const std::string whole = test::ReadWholeFile(folder / name);
      for (std::size_t size = whole.size(); size-- > 0;) {
        fs::resize_file(folder / name, size);
        const Opened opened = Checkpoint::Open(folder.string());
        const std::string said = Said(opened);
        // The last blob of a file may be a Python object, whose bytes nobody reads.
        if (opened && std::string_view(name) == "__0_0.distcp") continue;
        QVERIFY2(!opened, name);
        QVERIFY2(said.find(": byte ") != std::string::npos, said.c_str());
        QVERIFY(said.find('\n') == std::string::npos);
      }
      test::WriteFile(folder / name, whole);
    }
    QVERIFY(Checkpoint::Open(folder.string()));
  }

  // A process may outlive the folder that it was started in.
  void theWorkingDirectoryMayBeGone() {
    const fs::path before = fs::current_path();
    const fs::path gone = fresh();
    fs::create_directories(gone);
    fs::current_path(gone);
    fs::remove(gone);
    std::vector<Result<checkpoint::Contents>> results;
    for (const auto& read : {checkpoint::ReadDcpFolder, checkpoint::ReadMegatronFolder,
                             checkpoint::ReadTorchSaveFile, checkpoint::ReadTorchSaveFolder}) {
      results.push_back(read("model"));
    }
    const Opened opened = Checkpoint::Open("model");
    fs::current_path(before);
    for (const auto& result : results) {
      QVERIFY(!result);
      QVERIFY2(result.error().message.find("model") != std::string::npos,
               result.error().message.c_str());
    }
    QVERIFY(!opened);
  }

  void flippedBytesNeverCrash() {
    std::mt19937_64 rng(test::Seed());
    const fs::path folder = fresh();
    test::WriteDcp(folder, Small());
    for (const char* name : {".metadata", "__0_0.distcp"}) {
      const std::string whole = test::ReadWholeFile(folder / name);
      for (int round = 0; round < 300; ++round) {
        std::string bytes = whole;
        for (std::uint64_t i = 0; i <= rng() % 3; ++i) {
          bytes[rng() % bytes.size()] = static_cast<char>(rng());
        }
        test::WriteFile(folder / name, bytes);
        const Opened opened = Checkpoint::Open(folder.string());
        if (opened) static_cast<void>(ReadAll(**opened));
        QVERIFY(Said(opened).find('\n') == std::string::npos);
      }
      test::WriteFile(folder / name, whole);
    }
  }

  void megatron() {
    const fs::path root = fresh();
    const fs::path folder = root / "iter_0000120";
    DcpSpec spec = Small();
    spec.objects["optimizer/shard_0.0_1.2"] = "pickled";
    test::WriteDcp(folder, spec);
    test::WriteFile(root / "latest_checkpointed_iteration.txt", "120");
    test::WriteFile(folder / "metadata.json",
                    R"({"sharded_backend": "torch_dist", "sharded_backend_version": 1})");
    test::WriteFile(folder / "integrity.json", R"({"algorithm":"sha256","files":{"a":"00"}})");
    const std::string args = p::Object(p::Global("argparse", "Namespace"),
                                       p::Dict({{p::Text("hidden_size"), p::Int(64)}}));
    const std::string common = test::TorchSave(
        p::Dict({{p::Text("args"), args}, {p::Text("iteration"), p::Int(120)}}), {});
    test::WriteFile(folder / "common.pt", common);
    for (const fs::path& path : {root, folder, folder / ""}) {
      const Opened opened = Checkpoint::Open(path.string());
      QVERIFY2(opened, Said(opened).c_str());
      QCOMPARE((*opened)->format(), checkpoint::Format::kMegatron);
      QCOMPARE((*opened)->metadata().at("iteration"), std::string("120"));
      QCOMPARE((*opened)->metadata().at("common"),
               std::string(R"({"args":{"hidden_size":64},"iteration":120})"));
      QCOMPARE((*opened)->metadata().at("integrity"),
               std::string(R"({"algorithm":"sha256","files":{"a":"00"}})"));
      QCOMPARE((*opened)->opaque(), (std::vector<std::string>{"optimizer/shard_0.0_1.2", "step"}));
      QVERIFY(ReadAll(**opened));
    }
    test::WriteFile(
        folder / "common.pt",
        test::TorchSave(p::Dict({{p::Text("args"), p::Call(p::Global("my.code", "Args"), {})}}),
                        {}));
    const Opened unknown = Checkpoint::Open(root.string());
    QVERIFY2(unknown, Said(unknown).c_str());
    QCOMPARE((*unknown)->opaque(), (std::vector<std::string>{"common.pt (my.code.Args)",
                                                             "optimizer/shard_0.0_1.2", "step"}));
    QVERIFY(ReadAll(**unknown));
    const test::TensorSpec scale = {"FloatStorage", "abcd", 1, {1}, {1}};
    test::WriteFile(folder / "common.pt",
                    test::TorchSave(p::Dict({{p::Text("scale"), test::TensorCall(scale, "0")}}),
                                    {scale.bytes}));
    const Opened tensors = Checkpoint::Open(root.string());
    QVERIFY2(tensors, Said(tensors).c_str());
    QCOMPARE((*tensors)->UnreadFiles(),
             std::vector<std::string>{"'common.pt': storages with 4 bytes are not read: data/0"});
    test::WriteFile(folder / "common.pt", common);
    for (std::size_t size = common.size(); size-- > 0;) {
      fs::resize_file(folder / "common.pt", size);
      const Opened opened = Checkpoint::Open(root.string());
      QVERIFY(!opened);
      QVERIFY2(Said(opened).starts_with((folder / "common.pt").string() + ": byte "),
               Said(opened).c_str());
    }
    test::WriteFile(folder / "common.pt", common);
    const auto refuses = [&](const fs::path& file, const char* text, const char* message) {
      const std::string before = test::ReadWholeFile(file);
      test::WriteFile(file, text);
      const std::string said = Said(Checkpoint::Open(root.string()));
      test::WriteFile(file, before);
      return said.find(message) != std::string::npos ? QByteArray()
                                                     : QByteArray::fromStdString(said);
    };
    QCOMPARE(refuses(folder / "metadata.json", R"({"sharded_backend":"zarr"})",
                     "at byte 19: sharded_backend 'zarr' is not 'torch_dist'"),
             QByteArray());
    QCOMPARE(refuses(folder / "metadata.json", "{]", "at byte 1: a string expected"), QByteArray());
    QCOMPARE(refuses(folder / "metadata.json", "[]", "at byte 0: an object expected"),
             QByteArray());
    QCOMPARE(refuses(root / "latest_checkpointed_iteration.txt", "12a",
                     "'12a' is neither an iteration nor 'release'"),
             QByteArray());
    QCOMPARE(refuses(root / "latest_checkpointed_iteration.txt", "7", "iter_0000007"),
             QByteArray());
    fs::rename(folder, root / "release");
    test::WriteFile(root / "latest_checkpointed_iteration.txt", "release\n");
    QVERIFY(Checkpoint::Open(root.string()));
  }
};

TESSERA_TEST_APPLESS(TorchDcpTest)
#include "torch_dcp_test.moc"
