// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <algorithm>

#include "engine/checkpoint/safetensors/dtype_names.h"
#include "engine/checkpoint/safetensors/header.h"
#include "engine/checkpoint/safetensors/index.h"
#include "engine/checkpoint/safetensors/notes.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::checkpoint;
using tessera::ptc::DType;

namespace {

std::string FileOf(std::string json, std::size_t data_bytes, bool pad = false) {
  while (pad && json.size() % 8 != 0) json += ' ';
  std::string out;
  for (std::size_t i = 0; i < 8; ++i) out += static_cast<char>((json.size() >> (8 * i)) & 0xff);
  return out + json + std::string(data_bytes, '\1');
}

tessera::Result<Header> Parse(const std::string& file) {
  return ParseHeader(file, static_cast<std::int64_t>(file.size()), "x.safetensors");
}

QString ErrorOf(const std::string& file) {
  const auto header = Parse(file);
  return header ? QStringLiteral("parsed") : QString::fromStdString(header.error().ToString());
}

/// JSON with ' for ": moc stumbles over some raw strings.
std::string Json(std::string text) {
  std::ranges::replace(text, '\'', '"');
  return text;
}

/// An entry of two f32 at these offsets.
std::string Pair(const char* name, int begin, int end) {
  return Json("'") + name + Json("':{'dtype':'F32','shape':[2],'data_offsets':[") +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}

}  // namespace

class SafetensorsHeaderTest : public QObject {
  Q_OBJECT
 private slots:
  // Byte for byte what the format's own library writes for these tensors.
  void goldenBytes() {
    std::vector<FileTensor> tensors = {{"b", DType::kU8, {3}},
                                       {"a", DType::kBF16, {2, 2}},
                                       {"step", DType::kI64, {}},
                                       {"none", DType::kF32, {0, 4}}};
    QVERIFY(AssignOffsets(tensors).has_value());
    const Header header{.tensors = tensors, .metadata = {{"format", "pt"}}, .data_begin = 8};
    const auto text = PrintHeader(header);
    QVERIFY(text.has_value());
    const std::string json = Json(
        "{'__metadata__':{'format':'pt'},'step':{'dtype':'I64','shape':[],'data_offsets':[0,8]},'"
        "none':{'dtype':'F32','shape':[0,4],'data_offsets':[8,8]},'a':{'dtype':'BF16','shape':[2,2]"
        ",'data_offsets':[8,16]},'b':{'dtype':'U8','shape':[3],'data_offsets':[16,19]}}");
    QCOMPARE(QByteArray::fromStdString(*text), QByteArray::fromStdString(FileOf(json, 0, true)));

    const auto back = ParseHeader(*text, static_cast<std::int64_t>(text->size()) + 19, "x");
    QVERIFY(back.has_value());
    QVERIFY(back->metadata == header.metadata);
    QCOMPARE(back->data_begin, static_cast<std::int64_t>(text->size()));
    QCOMPARE(back->tensors.size(), std::size_t{4});
    QVERIFY(back->tensors == tensors);
  }

  void dataBeginsWhereAsked() {
    for (const std::int64_t alignment : {8, 64, 4096}) {
      std::vector<FileTensor> tensors = {{"w", DType::kF32, {5}}};
      QVERIFY(AssignOffsets(tensors).has_value());
      const auto text =
          PrintHeader({.tensors = tensors, .metadata = {}, .data_begin = 8}, alignment);
      QVERIFY(text.has_value());
      QCOMPARE(static_cast<std::int64_t>(text->size()) % alignment, std::int64_t{0});
      QVERIFY(ParseHeader(*text, static_cast<std::int64_t>(text->size()) + 20, "x").has_value());
    }
  }

  void namesSurvive() {
    for (const std::string name : {"a.b-c/d", "\"quoted\\", "größe", "\xf0\x9f\x98\x80", "a b"}) {
      std::vector<FileTensor> tensors = {{name, DType::kU8, {1}}};
      QVERIFY(AssignOffsets(tensors).has_value());
      const auto text =
          PrintHeader({.tensors = tensors, .metadata = {{name, "\n\x01"}}, .data_begin = 8});
      const auto back = ParseHeader(*text, static_cast<std::int64_t>(text->size()) + 1, "x");
      QVERIFY2(back.has_value(), name.c_str());
      QCOMPARE(back->tensors[0].name, name);
      QCOMPARE(back->metadata.at(name), std::string("\n\x01"));
    }
    const std::string escaped =
        Json("{'\\u00e9\\ud83d\\ude00\\/':{'data_offsets':[0,1],'shape':[1],'dtype':'BOOL'}}");
    const auto header = Parse(FileOf(escaped, 1));
    QVERIFY(header.has_value());
    QCOMPARE(header->tensors[0].name, std::string("é\xf0\x9f\x98\x80/"));
  }

  void namesThatCannotBeWritten_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("reserved") << QByteArray("__metadata__");
    QTest::newRow("line feed") << QByteArray("a\nb");
    QTest::newRow("not UTF-8") << QByteArray("a\xff");
    QTest::newRow("overlong") << QByteArray("\xc0\xaf");
    QTest::newRow("surrogate") << QByteArray("\xed\xa0\x80");
  }
  void namesThatCannotBeWritten() {
    QFETCH(QByteArray, name);
    std::vector<FileTensor> tensors = {{name.toStdString(), DType::kU8, {1}}};
    const auto status = AssignOffsets(tensors);
    QVERIFY(!status.has_value());
    QVERIFY(status.error().message.ends_with("cannot be the name of a tensor in safetensors"));
  }

  void tensorsThatCannotBePlaced() {
    std::vector<FileTensor> twice = {{"w", DType::kU8, {1}}, {"w", DType::kF32, {1}}};
    QCOMPARE(AssignOffsets(twice).error().message,
             std::string("tensor 'w' appears twice in one file"));
    std::vector<FileTensor> large = {{"v", DType::kF64, {std::int64_t{1} << 61}}};
    QCOMPARE(
        AssignOffsets(large).error().ToString(),
        std::string("tensor 'v': shape [2305843009213693952] of f64 has more than 2^63-1 bytes"));
  }

  void wrongBytes_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QString>("error");
    const auto row = [](const char* name, const std::string& file, const char* error) {
      QTest::newRow(name) << QByteArray::fromStdString(file)
                          << QStringLiteral("'x.safetensors' at byte ") + QString::fromUtf8(error);
    };
    const auto entry = [](const std::string& rest) { return Json("{'w':{") + rest + "}}"; };
    row("empty", "", "0: the file has 0 bytes, a safetensors file at least 8");
    row("7 bytes", "1234567", "0: the file has 7 bytes, a safetensors file at least 8");
    row("over the format's limit", std::string("\x01\xe1\xf5\x05\0\0\0\0", 8),
        "0: the header has 100000001 bytes, the limit is 100000000; write the tensors to several "
        "files");
    row("negative", std::string(8, '\xff'),
        "0: the header has 18446744073709551615 bytes, the limit is 100000000; write the tensors "
        "to "
        "several files");
    row("longer than the file", FileOf("{}", 0).substr(0, 9),
        "0: the header has 2 bytes, the file 1 after its length");
    row("no header", FileOf("", 0), "8: the header does not begin with '{'");
    row("a space first", FileOf(" {}", 0), "8: the header does not begin with '{'");
    row("an array", FileOf("[]", 0), "8: the header does not begin with '{'");
    row("not closed", FileOf("{", 0), "9: a string expected");
    row("more behind", FileOf("{} x", 0), "11: nothing expected after the object");
    row("a trailing comma", FileOf("{" + Pair("a", 0, 8) + ",}", 8), "62: a string expected");
    row("no colon", FileOf(Json("{'a' 1}"), 0), "13: ':' expected");
    row("no string", FileOf("{1:2}", 0), "9: a string expected");
    row("open string", FileOf(Json("{'a"), 0), "11: the text ends within a string");
    row("control character", FileOf("{\"a\tb\":1}", 0), "11: a control character in a string");
    row("not UTF-8", FileOf("{\"a\xff\":1}", 0), "11: a string that is not UTF-8");
    row("unknown escape", FileOf(Json("{'a\\x':1}"), 0), "11: an unknown escape in a string");
    row("half a pair", FileOf(Json("{'\\ud800':1}"), 0), "10: half a surrogate pair in a string");
    row("short escape", FileOf(Json("{'\\u12':1}"), 0), "14: four hex digits expected after \\u");
    row("no name", FileOf("{" + Pair("", 0, 8) + "}", 8), "9: a tensor without a name");
    row("control in a name", FileOf("{" + Pair("a\\nb", 0, 8) + "}", 8),
        "9: a tensor's name has control characters");
    row("tensor twice", FileOf("{" + Pair("a", 0, 8) + "," + Pair("a", 8, 16) + "}", 16),
        "62: key 'a' appears twice");
    row("metadata twice", FileOf(Json("{'__metadata__':{},'__metadata__':{}}"), 0),
        "27: key '__metadata__' appears twice");
    row("key of metadata twice", FileOf(Json("{'__metadata__':{'a':'1','a':'2'}}"), 0),
        "33: key 'a' of __metadata__ appears twice");
    row("metadata no string", FileOf(Json("{'__metadata__':{'a':1}}"), 0), "29: a string expected");
    row("metadata no object", FileOf(Json("{'__metadata__':[]}"), 0), "24: an object expected");
    row("entry no object", FileOf(Json("{'w':1}"), 0), "13: an object expected");
    row("no dtype", FileOf(entry(Json("'shape':[],'data_offsets':[0,1]")), 1),
        "9: tensor 'w' has no dtype");
    row("no shape", FileOf(entry(Json("'dtype':'U8','data_offsets':[0,1]")), 1),
        "9: tensor 'w' has no shape");
    row("no offsets", FileOf(entry(Json("'dtype':'U8','shape':[1]")), 1),
        "9: tensor 'w' has no data_offsets");
    row("dtype twice", FileOf(entry(Json("'dtype':'U8','dtype':'U8'")), 1),
        "27: 'dtype' of 'w' appears twice");
    row("unknown dtype", FileOf(entry(Json("'dtype':'F33'")), 1),
        "22: tensor 'w': dtype 'F33' is unknown");
    row("line feed in a dtype", FileOf(entry(Json("'dtype':'F\\n'")), 1),
        "22: tensor 'w': dtype 'F?' is unknown");
    row("long dtype", FileOf(entry(Json("'dtype':'") + std::string(199, 'x') + Json("é'")), 1),
        ("22: tensor 'w': dtype '" + std::string(199, 'x') + "…' is unknown").c_str());
    row("half a byte", FileOf(entry(Json("'dtype':'F4','shape':[3],'data_offsets':[0,2]")), 2),
        "9: tensor 'w': f4 [3] has 12 bits, not a whole number of bytes");
    row("three quarters of a byte",
        FileOf(entry(Json("'dtype':'F6_E2M3','shape':[],'data_offsets':[0,1]")), 1),
        "9: tensor 'w': f6e2m3 [] has 6 bits, not a whole number of bytes");
    row("offsets against a packed shape",
        FileOf(entry(Json("'dtype':'F6_E3M2','shape':[2,4],'data_offsets':[0,8]")), 8),
        "61: tensor 'w' has data_offsets [0,8], its shape [2,4] of F6_E3M2 takes 6 bytes");
    row("dtype no string", FileOf(entry(Json("'dtype':8")), 1), "22: a string expected");
    row("negative size", FileOf(entry(Json("'shape':[-1]")), 1), "23: a count expected");
    row("size a fraction", FileOf(entry(Json("'shape':[1.5]")), 1),
        "23: a count expected, not a fraction");
    row("size with a leading zero", FileOf(entry(Json("'shape':[01]")), 1),
        "23: a count with a leading zero");
    row("size over int64", FileOf(entry(Json("'shape':[9223372036854775808]")), 1),
        "23: a count above 2^63-1");
    row("nine dims", FileOf(entry(Json("'shape':[1,1,1,1,1,1,1,1,1]")), 1),
        "39: tensor 'w' has more than 8 dims");
    row("one offset", FileOf(entry(Json("'data_offsets':[0]")), 1),
        "29: data_offsets of 'w' are not two counts");
    row("three offsets", FileOf(entry(Json("'data_offsets':[0,1,2]")), 1),
        "29: data_offsets of 'w' are not two counts");
    row("elements over int64",
        FileOf(entry(Json("'dtype':'U8','shape':[4294967296,4294967296],'data_offsets':[0,0]")), 0),
        "9: tensor 'w': shape [4294967296,4294967296] has more than 2^63-1 elements");
    row("bytes over int64",
        FileOf(entry(Json("'dtype':'F64','shape':[4294967296,2147483647],'data_offsets':[0,0]")),
               0),
        "9: tensor 'w': shape [4294967296,2147483647] of f64 has more than 2^63-1 bytes");
    row("offsets against the shape", FileOf("{" + Pair("w", 0, 7) + "}", 7),
        "55: tensor 'w' has data_offsets [0,7], its shape [2] of F32 takes 8 bytes");
    row("offsets backwards", FileOf("{" + Pair("w", 8, 0) + "}", 8),
        "55: tensor 'w' has data_offsets [8,0], its shape [2] of F32 takes 8 bytes");
    row("a hole", FileOf("{" + Pair("a", 0, 8) + "," + Pair("b", 12, 20) + "}", 20),
        "108: tensor 'b' begins at 12 of the data, after a hole that begins at 8");
    row("a hole at the begin", FileOf("{" + Pair("a", 4, 12) + "}", 12),
        "55: tensor 'a' begins at 4 of the data, after a hole that begins at 0");
    row("an overlap", FileOf("{" + Pair("b", 4, 12) + "," + Pair("a", 0, 8) + "}", 12),
        "55: tensor 'b' begins at 4 of the data, inside the one that ends at 8");
    row("past the end", FileOf("{" + Pair("a", 0, 8) + "}", 7),
        "55: tensor 'a' ends at 8 of the data, the file has 7 bytes of it");
    row("bytes left", FileOf("{" + Pair("a", 0, 8) + "}", 9),
        "8: the tensors have 8 bytes, the file has 9");
    row("a deep value", FileOf(entry(Json("'x':") + std::string(100, '[')), 0),
        "82: a value more than 64 deep");
    row("no value", FileOf(entry(Json("'x':")), 0), "18: a value expected");
  }
  void wrongBytes() {
    QFETCH(QByteArray, file);
    QFETCH(QString, error);
    QCOMPARE(ErrorOf(file.toStdString()), error);
  }

  void unknownKeysOfAnEntryAreSkipped() {
    const auto header = Parse(FileOf(Json("{'w':{'x':{'y':[1,-2.5e+3,true,null,'s']},'dtype':'U8','"
                                          "shape':[1],'data_offsets':[0,1]}}"),
                                     1));
    QVERIFY2(header.has_value(), header ? "" : header.error().message.c_str());
  }

  // Whatever is cut off or turned over, the answer is a header or one line that names a byte.
  void damagedHeadersAreRefused() {
    std::mt19937_64 rng(tessera::test::Seed());
    const std::string good =
        FileOf("{\"__metadata__\":{\"k\":\"v\"}," + Pair("a", 0, 8) + "," + Pair("b", 8, 16) + "}",
               16, true);
    QVERIFY(Parse(good).has_value());
    for (std::size_t size = 0; size < good.size(); ++size) {
      const auto error = ErrorOf(good.substr(0, size));
      QVERIFY2(error.startsWith(QStringLiteral("'x.safetensors' at byte ")), qPrintable(error));
    }
    for (int i = 0; i < 20000; ++i) {
      std::string bad = good;
      for (std::size_t n = 1 + rng() % 3; n > 0; --n) {
        bad[rng() % (bad.size() - 16)] = static_cast<char>(rng());
      }
      const auto error = ErrorOf(bad);
      QVERIFY2(error == QStringLiteral("parsed") ||
                   error.startsWith(QStringLiteral("'x.safetensors' at byte ")),
               qPrintable(error));
      QVERIFY(!error.contains(u'\n'));
    }
  }

  void dtypesHaveTheirNames() {
    int last = -1;
    for (const char* name :
         {"BOOL",    "F4",          "F6_E2M3",     "F6_E3M2", "U8",  "I8",  "F8_E5M2", "F8_E4M3",
          "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "I16",     "U16", "F16", "BF16",    "I32",
          "U32",     "F32",         "C64",         "F64",     "I64", "U64"}) {
      const auto dtype = ParseSafetensorsName(name);
      QVERIFY(dtype.has_value());
      QCOMPARE(SafetensorsName(*dtype), std::string_view(name));
      QVERIFY(SafetensorsOrder(*dtype) > last);
      last = SafetensorsOrder(*dtype);
    }
    QVERIFY(ParseSafetensorsName("f32").error().code == tessera::ErrorCode::kInvalidArgument);
    QCOMPARE(last, tessera::ptc::kNumDTypes - 1);
  }

  void notesReadBack() {
    const Offsets offsets = {{"a\"b", {0, 4}}, {"scalar", {}}};
    const std::string printed_offsets =
        Json("{'a\\'b':{'saved_offsets':[0,4]},'scalar':{'saved_offsets':[]}}");
    QCOMPARE(PrintOffsets(offsets), printed_offsets);
    QVERIFY(*ParseOffsets(printed_offsets, "x") == offsets);
    const Digests digests = {{"w", 0x0123456789abcdefULL}, {"z", 0}};
    const std::string printed_digests = Json("{'w':'0123456789abcdef','z':'0000000000000000'}");
    QCOMPARE(PrintDigests(digests), printed_digests);
    QVERIFY(*ParseDigests(printed_digests, "x") == digests);
    // As a list, in the order of the header, without the names.
    Header header{.tensors = {{"w", DType::kF32, {}, 0, 4}, {"z", DType::kF32, {}, 4, 8}}};
    QVERIFY(*DigestsIn(header, "x") == std::nullopt);
    header.metadata[std::string(kDigestListKey)] = PrintDigestList({0x0123456789abcdefULL, 0});
    QCOMPARE(header.metadata.begin()->second, std::string("0123456789abcdef0000000000000000"));
    QVERIFY(*DigestsIn(header, "x") == digests);
    header.metadata[std::string(kDigestListKey)].back() = 'x';
    QCOMPARE(DigestsIn(header, "x").error().message,
             std::string("'tessera.digest_list' in 'x': tensor 'z' has no 16 hex digits"));
    header.metadata[std::string(kDigestListKey)].pop_back();
    QCOMPARE(
        DigestsIn(header, "x").error().message,
        std::string("'tessera.digest_list' in 'x' has 31 characters for 2 tensors, expected 16 "
                    "for each"));
  }

  void wrongNotesAndIndices_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("error");
    const auto row = [](const char* kind, const std::string& json, const char* error) {
      QTest::newRow(error) << QString::fromLatin1(kind) << QByteArray::fromStdString(json)
                           << QString::fromLatin1(error);
    };
    row("digests", Json("{'w':'12'}"),
        "'tessera.digests' in 'x' at byte 5: a digest of 16 hex digits expected");
    row("offsets", Json("{'w':{}}"),
        "'DCP_SHARDING_INFO' in 'x' at byte 7: saved_offsets expected");
    row("offsets", Json("{'w':{'saved_offsets':[0,0,0,0,0,0,0,0,0]}}"),
        "'DCP_SHARDING_INFO' in 'x' at byte 39: more than 8 saved_offsets");
    row("offsets", Json("{'w':{'saved_offsets':[]},'w':{'saved_offsets':[]}}"),
        "'DCP_SHARDING_INFO' in 'x' at byte 26: key 'w' appears twice");
    row("index", "{}", "'x' at byte 0: no weight_map in the index");
    row("index", Json("{'weight_map':{'w':'../f'}}"),
        "'x' at byte 19: '../f' is not the name of a file in this folder");
    row("index", Json("{'weight_map':{'w':'f','w':'g'}}"),
        "'x' at byte 23: tensor 'w' appears twice");
    row("index", Json("{'weight_map':{},'weight_map':{}}"),
        "'x' at byte 17: weight_map appears twice");
    row("index", Json("{'weight_map':[]}"), "'x' at byte 14: an object expected");
  }
  void wrongNotesAndIndices() {
    QFETCH(QString, kind);
    QFETCH(QByteArray, json);
    QFETCH(QString, error);
    const std::string text = json.toStdString();
    const auto messageOf = [](const auto& result) {
      return result ? QStringLiteral("parsed") : QString::fromStdString(result.error().ToString());
    };
    QCOMPARE(kind == QStringLiteral("digests")   ? messageOf(ParseDigests(text, "x"))
             : kind == QStringLiteral("offsets") ? messageOf(ParseOffsets(text, "x"))
                                                 : messageOf(ParseIndex(text, "x")),
             error);
  }

  void indexIsRead() {
    const auto index =
        ParseIndex(Json("{'metadata':{'total_size':8},'weight_map':{'w':'f.st'}}"), "i");
    QVERIFY(index.has_value());
    QCOMPARE(index->tensors.at("w").file, std::string("f.st"));
    QCOMPARE(index->tensors.at("w").at, std::int64_t{43});
  }
};

TESSERA_TEST_APPLESS(SafetensorsHeaderTest)
#include "safetensors_header_test.moc"
