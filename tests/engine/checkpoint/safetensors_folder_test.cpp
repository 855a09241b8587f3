// SPDX-License-Identifier: Apache-2.0
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/safetensors/header.h"
#include "engine/checkpoint/safetensors/index.h"
#include "engine/checkpoint/safetensors/notes.h"
#include "tests/engine/checkpoint/sample_tensors.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::checkpoint;
using ptc::DType;

namespace {

namespace fs = std::filesystem;

/// A file of these tensors, all bytes 0.
void MakeFile(const fs::path& path, std::vector<FileTensor> tensors,
              const std::map<std::string, std::string>& metadata = {}) {
  QVERIFY(AssignOffsets(tensors).has_value());
  const std::int64_t bytes = tensors.empty() ? 0 : tensors.back().end;
  const auto text = PrintHeader({.tensors = tensors, .metadata = metadata, .data_begin = 8});
  QVERIFY(text.has_value());
  test::WriteText(path, *text + std::string(static_cast<std::size_t>(bytes), '\0'));
}

void MakeShard(const fs::path& path, std::vector<FileTensor> tensors, const Offsets& offsets) {
  MakeFile(path, std::move(tensors), {{std::string(kShardingKey), PrintOffsets(offsets)}});
}

/// JSON with ' for ".
std::string Json(std::string text) {
  std::ranges::replace(text, '\'', '"');
  return text;
}

}  // namespace

class SafetensorsFolderTest : public QObject {
  Q_OBJECT
 private:
  std::unique_ptr<QTemporaryDir> folder_;
  fs::path Path(const char* name = "") const {
    return folder_->path().toStdString() + (*name ? "/" + std::string(name) : "");
  }
  /// The error of opening the folder, with its path as F.
  QString Error() const {
    const auto opened = Checkpoint::Open(Path());
    if (opened) return QStringLiteral("opened");
    return QString::fromStdString(opened.error().ToString())
        .replace(folder_->path(), QStringLiteral("F"));
  }

 private slots:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void nothingThere() {
    QCOMPARE(Error(),
             QStringLiteral("'F' is not a checkpoint: it has no *.safetensors, .metadata or "
                            "latest_checkpointed_iteration.txt in it"));
    const auto opened = Checkpoint::Open(Path("none"));
    QVERIFY(opened.error().code == ErrorCode::kNotFound);
  }

  void indexLeadsToFiles() {
    MakeFile(Path("x-00001-of-00002.safetensors"), {{"a", DType::kF32, {2}}});
    MakeFile(Path("x-00002-of-00002.safetensors"), {{"b", DType::kF32, {3}}});
    MakeFile(Path("consolidated.safetensors"), {{"c", DType::kF32, {3}}});
    test::WriteText(Path("x.safetensors.index.json"),
                    Json("{'metadata':{},'weight_map':{'a':'x-00001-of-00002.safetensors',"
                         "'b':'x-00002-of-00002.safetensors'}}"));
    const auto opened = Checkpoint::Open(Path().string() + "/");
    QVERIFY2(opened.has_value(), qPrintable(Error()));
    QVERIFY((*opened)->format() == Format::kHuggingFace);
    QCOMPARE((*opened)->tensors().size(), std::size_t{2});
    QCOMPARE((*opened)->path(), Path().string());
    QVERIFY(!(*opened)->tensors()[0].digest.has_value());
    QCOMPARE((*opened)->UnreadFiles(),
             std::vector<std::string>{"'consolidated.safetensors' is not read: "
                                      "x.safetensors.index.json does not name it"});
  }

  // An index of more than a million tensors is larger than a header may be.
  void indicesMayBeLargerThanHeaders() {
    MakeFile(Path("a.safetensors"), {{"a", DType::kF32, {2}}});
    test::WriteText(Path("model.safetensors.index.json"),
                    Json("{'weight_map':{'a':'a.safetensors'}") +
                        std::string(static_cast<std::size_t>(kMaxHeaderBytes), ' ') + "}");
    const auto opened = Checkpoint::Open(Path());
    QVERIFY2(opened.has_value(), qPrintable(Error()));
    QCOMPARE((*opened)->tensors().size(), std::size_t{1});
  }

  void indicesHaveALimit() {
    MakeFile(Path("a.safetensors"), {{"a", DType::kF32, {2}}});
    const std::string index = Path("model.safetensors.index.json");
    test::WriteText(index, Json("{'weight_map':{'a':'a.safetensors'}}"));
    std::filesystem::resize_file(index, kMaxIndexBytes + 1);  // sparse
    QVERIFY(!Checkpoint::Open(Path()));
    QVERIFY2(Error().endsWith("model.safetensors.index.json' has 2147483649 bytes, the limit is "
                              "2147483648; open the files that it names one by one"),
             qPrintable(Error()));
  }

  void wrongIndices_data() {
    QTest::addColumn<QByteArray>("index");
    QTest::addColumn<QString>("error");
    const auto row = [](const char* name, const char* index, const char* error) {
      QTest::newRow(name) << QByteArray::fromStdString(Json(index)) << QString::fromLatin1(error);
    };
    row("missing file", "{'weight_map':{'a':'one.safetensors','b':'two.safetensors','c':'no'}}",
        "'F/model.safetensors.index.json' at byte 59: file 'no' is missing");
    row("missing tensor",
        "{'weight_map':{'a':'one.safetensors','b':'two.safetensors','c':'one.safetensors'}}",
        "'F/model.safetensors.index.json' at byte 59: file 'one.safetensors' has no tensor 'c'");
    row("not named", "{'weight_map':{'b':'two.safetensors','e':'one.safetensors'}}",
        "'F/model.safetensors.index.json': the index does not name tensor 'a' of file "
        "'one.safetensors'");
    row("in two files", "{'weight_map':{'a':'one.safetensors','b':'one.safetensors'}}",
        "'F/model.safetensors.index.json' at byte 37: file 'one.safetensors' has no tensor 'b'");
    row("in another file", "{'weight_map':{'a':'two.safetensors','b':'two.safetensors'}}",
        "'F/model.safetensors.index.json' at byte 15: file 'two.safetensors' has no tensor 'a'");
    row("no JSON", "weights", "'F/model.safetensors.index.json' at byte 0: an object expected");
  }
  void wrongIndices() {
    QFETCH(QByteArray, index);
    QFETCH(QString, error);
    MakeFile(Path("one.safetensors"), {{"a", DType::kF32, {2}}});
    MakeFile(Path("two.safetensors"), {{"b", DType::kF32, {2}}});
    test::WriteText(Path("model.safetensors.index.json"), index.toStdString());
    QCOMPARE(Error(), error);
  }

  void tensorInTwoFilesOfTheIndex() {
    MakeFile(Path("one.safetensors"), {{"a", DType::kF32, {2}}});
    MakeFile(Path("two.safetensors"), {{"a", DType::kF32, {2}}, {"b", DType::kF32, {2}}});
    test::WriteText(Path("model.safetensors.index.json"),
                    Json("{'weight_map':{'a':'one.safetensors','b':'two.safetensors'}}"));
    QCOMPARE(Error(),
             QStringLiteral("'F/model.safetensors.index.json' at byte 15: tensor 'a' lies in file "
                            "'two.safetensors' as well as in 'one.safetensors'"));
    test::WriteText(Path("other.safetensors.index.json"), "{}");
    QCOMPARE(Error(), QStringLiteral("'F' has two indices, 'model.safetensors.index.json' and "
                                     "'other.safetensors.index.json'"));
  }

  void tensorInTwoFilesWithoutIndex() {
    MakeFile(Path("one.safetensors"), {{"a", DType::kF32, {2}}});
    MakeFile(Path("two.safetensors"), {{"a", DType::kF32, {2}}});
    QCOMPARE(Error(), QStringLiteral("'F/two.safetensors': tensor 'a' lies in 'F/one.safetensors' "
                                     "as well"));
  }

  void shardsMakeTensors() {
    MakeShard(Path("s1.safetensors"), {{"w", DType::kF32, {2, 3}}, {"n", DType::kI64, {}}},
              {{"w", {0, 0}}, {"n", {}}});
    MakeShard(Path("s2.safetensors"), {{"w", DType::kF32, {1, 3}}, {"e", DType::kF32, {0, 4}}},
              {{"w", {2, 0}}, {"e", {0, 0}}});
    const auto opened = Checkpoint::Open(Path());
    QVERIFY2(opened.has_value(), qPrintable(Error()));
    QVERIFY((*opened)->format() == Format::kShardedSafetensors);
    QCOMPARE((*opened)->tensors().size(), std::size_t{3});
    QVERIFY(((*opened)->tensors()[0].shape == ptc::Shape{0, 4}));
    QVERIFY((*opened)->tensors()[1].shape.empty());
    QVERIFY(((*opened)->tensors()[2].shape == ptc::Shape{3, 3}));
    QCOMPARE((*opened)->tensors()[2].boxes.size(), std::size_t{2});
    QVERIFY((*opened)->metadata().empty());
  }

  void wrongShards_data() {
    QTest::addColumn<int>("which");
    QTest::addColumn<QString>("error");
    QTest::newRow("hole") << 0 << "'F': tensor 'w': range [2:3,0:3] of shape [4,3] is in no file";
    QTest::newRow("overlap") << 1
                             << "'F': tensor 'w': range [1:2,0:3] of shape [2,3] is stored twice";
    QTest::newRow("no offset")
        << 2
        << "'F/s2.safetensors' at byte 8: DCP_SHARDING_INFO has 0 offsets for "
           "tensor 'w' of 2 dims";
    QTest::newRow("rank of offset")
        << 3
        << "'F/s2.safetensors' at byte 8: DCP_SHARDING_INFO has 1 offsets "
           "for tensor 'w' of 2 dims";
    QTest::newRow("beyond int64")
        << 4
        << "'F/s2.safetensors': tensor 'w' has offset 9223372036854775807 "
           "of dim 0, beyond int64";
    QTest::newRow("no JSON") << 5
                             << "'DCP_SHARDING_INFO' in 'F/s2.safetensors' at byte 0: an object "
                                "expected";
    QTest::newRow("dtype") << 6
                           << "'F/s2.safetensors': tensor 'w' has another dtype or rank than in "
                              "'F/s1.safetensors'";
    QTest::newRow("whole and cut")
        << 7
        << "'F/s2.safetensors': tensor 'w' lies in 'F/s1.safetensors' as "
           "well";
  }
  void wrongShards() {
    QFETCH(int, which);
    QFETCH(QString, error);
    MakeShard(Path("s1.safetensors"), {{"w", DType::kF32, {2, 3}}}, {{"w", {0, 0}}});
    const fs::path second = Path("s2.safetensors");
    const FileTensor row{"w", DType::kF32, {1, 3}};
    if (which == 0) MakeShard(second, {row}, {{"w", {3, 0}}});
    if (which == 1) MakeShard(second, {row}, {{"w", {1, 0}}});
    if (which == 2) MakeShard(second, {row}, {});
    if (which == 3) MakeShard(second, {row}, {{"w", {2}}});
    if (which == 4) MakeShard(second, {row}, {{"w", {INT64_MAX, 0}}});
    if (which == 5) MakeFile(second, {row}, {{std::string(kShardingKey), "x"}});
    if (which == 6) MakeShard(second, {{"w", DType::kF16, {1, 3}}}, {{"w", {2, 0}}});
    if (which == 7) MakeFile(second, {row});
    QCOMPARE(Error(), error);
  }

  void filesOfOtherKinds() {
    test::WriteText(Path("x.safetensors"), "not a header at all");
    QVERIFY(Error().startsWith(QStringLiteral("'F/x.safetensors' at byte 0: the header has ")));
    fs::remove(Path("x.safetensors"));
    fs::create_directory(Path("x.safetensors"));
    QCOMPARE(Error(), QStringLiteral("'F/x.safetensors' is not a regular file"));
  }
};

TESSERA_TEST_APPLESS(SafetensorsFolderTest)
#include "safetensors_folder_test.moc"
