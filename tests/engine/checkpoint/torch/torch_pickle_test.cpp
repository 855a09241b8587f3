// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <bit>

#include "engine/checkpoint/torch/pickle.h"
#include "engine/checkpoint/torch/value_json.h"
#include "tests/engine/checkpoint/torch/torch_builder.h"
#include "tests/support/test_main.h"

using namespace tessera;
using checkpoint::Pickle;
namespace p = test::pickle;
using Kind = Pickle::Kind;

namespace {
Result<checkpoint::PicklePtr> Read(const std::string& bytes) {
  return Pickle::Read("a.pkl", 100, bytes);
}
std::string Raw(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text += static_cast<char>(byte);
  return text;
}
}  // namespace

class TorchPickleTest : public QObject {
  Q_OBJECT

 private slots:
  void readsValues_data() {
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QString>("json");
    const auto row = [](const char* name, const std::string& body, const char* json) {
      QTest::newRow(name) << QByteArray::fromStdString(body) << QString::fromUtf8(json);
    };
    row("None", "N", "null");
    row("True and False", p::Tuple({"\x88", "\x89"}), "[true,false]");
    row("BININT1", "K\xff", "255");
    row("BININT2", "M\xff\xff", "65535");
    row("BININT", "J\xff\xff\xff\xff", "-1");
    row("INT", "I-12\n", "-12");
    row("INT as bool", "I01\n", "true");
    row("LONG1 of no bytes", Raw({0x8a, 0}), "0");
    row("LONG1 negative", Raw({0x8a, 1, 0xfe}), "-2");
    row("LONG1 of eight bytes", Raw({0x8a, 8, 0, 0, 0, 0, 0, 0, 0, 0x80}), "-9223372036854775808");
    row("LONG1 of nine bytes", Raw({0x8a, 9, 0, 0, 0, 0, 0, 0, 0, 0, 1}), "{\"bytes\":9}");
    row("LONG4", Raw({0x8b, 2, 0, 0, 0, 0x34, 0x12}), "4660");
    row("BINFLOAT", Raw({'G', 0x3f, 0xf8, 0, 0, 0, 0, 0, 0}), "1.5");
    row("infinity", Raw({'G', 0x7f, 0xf0, 0, 0, 0, 0, 0, 0}), "\"inf\"");
    row("SHORT_BINUNICODE", Raw({0x8c, 2, 0xc3, 0xa4}), "\"ä\"");
    row("BINUNICODE8", Raw({0x8d, 1, 0, 0, 0, 0, 0, 0, 0, 'a'}), "\"a\"");
    row("text that is no UTF-8", Raw({0x8c, 1, 0xff}), "\"\xef\xbf\xbd\"");
    row("bytes", Raw({'C', 2, 'a', 'b'}), "{\"bytes\":2}");
    row("BYTEARRAY8", Raw({0x96, 1, 0, 0, 0, 0, 0, 0, 0, 'a'}), "{\"bytes\":1}");
    row("tuples", p::Tuple({")", "N\x85", "NN\x86", "NNN\x87"}),
        "[[],[null],[null,null],[null,null,null]]");
    row("lists",
        "](K\x01K\x02"
        "eK\x03"
        "a",
        "[1,2,3]");
    row("LIST and DICT",
        "(K\x01l(K\x02K\x03"
        "d\x86",
        "[[1],{\"2\":3}]");
    row("a dict, the last of equal keys", p::Dict({{p::Text("a"), "N"}, {p::Text("a"), "K\x02"}}),
        "{\"a\":2}");
    row("sets", Raw({0x8f, '(', 'K', 1, 0x90}), "[1]");
    row("FROZENSET", Raw({'(', 'K', 1, 0x91}), "[1]");
    row("POP, DUP and POP_MARK",
        "K\x07"
        "N0"
        "2(NN1\x86",
        "[7,7]");
    row("POP of a mark", "K\x07(0", "7");
    row("the memo", Raw({'K', 5, 'q', 0, '0', 'h', 0, 'h', 0, 0x86}), "[5,5]");
    row("a long memo", Raw({'K', 5, 'r', 1, 0, 0, 0, '0', 'j', 1, 0, 0, 0}), "5");
    row("MEMOIZE", Raw({'K', 5, 0x94, '0', 'h', 0}), "5");
    row("an OrderedDict with attributes",
        p::Call(p::Global("collections", "OrderedDict"), {}) + p::Text("a") + "Ns" + p::Dict({}) +
            "b",
        "{\"a\":null}");
    row("a Namespace",
        p::Object(p::Global("argparse", "Namespace"),
                  p::Dict({{p::Text("lr"), Raw({'G', 0x3f, 0xe0, 0, 0, 0, 0, 0, 0})}})),
        "{\"lr\":0.5}");
    row("a path",
        p::Call(p::Global("pathlib", "PosixPath"), {p::Text("/"), p::Text("a"), p::Text("b")}),
        "\"/a/b\"");
    row("an enumerator", p::Call(p::Global("megatron.core.enums", "ModelType"), {"K\x01"}), "1");
    row("a size", p::Call(p::Global("torch", "Size"), {p::Ints({2, 3})}), "[2,3]");
    row("STACK_GLOBAL", p::Text("torch") + p::Text("float32") + "\x93", "\"torch.float32\"");
    row("NEWOBJ_EX", p::Global("argparse", "Namespace") + ")}\x92",
        "{\"arguments\":[],\"object\":\"argparse.Namespace\"}");
    // Objects of classes that are not known are only named.
    row("a call of the system", p::Call(p::Global("os", "system"), {p::Text("true")}),
        "{\"object\":\"os.system\"}");
    row("the same by name on the stack", p::Text("posix") + p::Text("system") + "\x93",
        "\"posix.system\"");
    row("an attribute of what is known", p::Text("torch") + p::Text("Size.__class__") + "\x93",
        "\"torch.Size.__class__\"");
    row("items of an unknown subclass of dict",
        p::Call(p::Global("a", "B"), {}) + p::Text("k") + "Ns", "{\"object\":\"a.B\"}");
    row("a call of a method", p::Call(p::Global("a", "B"), {}) + ")R",
        "{\"object\":\"object.method\"}");
    row("keywords of an unknown class",
        p::Global("a", "B") + ")" + p::Dict({{p::Text("k"), "N"}}) + "\x92",
        "{\"object\":\"a.B\"}");
    row("a Counter",
        p::Call(p::Global("collections", "Counter"), {p::Dict({{p::Text("a"), "K\x02"}})}),
        "{\"a\":2}");
    row("a defaultdict",
        p::Call(p::Global("collections", "defaultdict"), {p::Global("__builtin__", "list")}) +
            p::Text("a") + "K\x02s",
        "{\"a\":2}");
    row("an OrderedDict of Python 2",
        p::Call(p::Global("collections", "OrderedDict"),
                {p::List({p::List({p::Text("a"), "K\x02"})})}),
        "{\"a\":2}");
    row("a set of protocol 2", p::Call(p::Global("__builtin__", "set"), {p::List({"K\x01"})}),
        "{\"arguments\":[[1]],\"object\":\"builtins.set\"}");
    row("a complex number", p::Call(p::Global("__builtin__", "complex"), {"K\x01", "K\x02"}),
        "{\"arguments\":[1,2],\"object\":\"builtins.complex\"}");
    row("a bytearray of protocol 2",
        p::Call(p::Global("__builtin__", "bytearray"), {p::Text("a"), p::Text("latin-1")}),
        "{\"arguments\":[\"a\",\"latin-1\"],\"object\":\"builtins.bytearray\"}");
    row("a persistent id", p::Text("x") + "Q", "[\"x\"]");
    row("a frame", Raw({0x95, 1, 0, 0, 0, 0, 0, 0, 0, 'N'}), "null");
  }
  void readsValues() {
    QFETCH(QByteArray, body);
    QFETCH(QString, json);
    const auto pickle = Read(p::Whole(body.toStdString(), 4));
    QVERIFY2(pickle, pickle ? "" : pickle.error().ToString().c_str());
    const auto text = checkpoint::ToJson((*pickle)->root());
    QVERIFY2(text, text ? "" : text.error().ToString().c_str());
    QCOMPARE(QString::fromStdString(*text), json);
  }

  void refuses_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* name, const std::string& bytes, const char* message) {
      QTest::newRow(name) << QByteArray::fromStdString(bytes) << QString::fromLatin1(message);
    };
    const auto body = [&](const char* name, const std::string& bytes, const char* message) {
      row(name, p::Whole(bytes), message);
    };
    row("nothing", "", "byte 100: not a pickle of protocol 2 to 5");
    row("protocol 1", p::Whole("N", 1), "byte 100: not a pickle of protocol 2 to 5");
    row("protocol 6", p::Whole("N", 6), "byte 100: not a pickle of protocol 2 to 5");
    row("bytes behind", p::Whole("N") + "x", "byte 103: 1 bytes follow the end of the pickle");
    body("INST", "ios\nsystem\n", "opcode 0x69 is not one that a checkpoint's pickle needs");
    body("OBJ", "(o", "opcode 0x6f is not one");
    body("EXT1", "\x82\x01", "opcode 0x82 is not one");
    body("PERSID", "Px\n", "opcode 0x50 is not one");
    body("NEXT_BUFFER", "\x97", "opcode 0x97 is not one");
    body("a call of what is no global", "N)R", "the callable is not a global");
    body("arguments that are no tuple", p::Global("torch", "Size") + "NR",
         "the arguments of a call are not a tuple");
    body("keyword arguments", p::Global("torch", "Size") + ")" + p::Dict({{"N", "N"}}) + "\x92",
         "keyword arguments");
    body("a name of a global without end", p::Global(std::string(600, 'a'), "b"),
         "the name of a global has 600 bytes, the limit is 512");
    body("an empty stack", "0", "finds the pickle's stack empty");
    body("TUPLE2 through a mark", "N(N\x86", "finds the pickle's stack empty");
    body("no mark", "Nt", "finds no mark");
    body("STOP on nothing", "", "finds the pickle's stack empty");
    body("a key without a value", "}(Nu", "a key of a dict has no value");
    body("APPEND to a dict", "}Na", "not of their kind of container");
    body("APPEND to nothing", "Na", "not of their kind of container");
    body("a state for a number", "K\x01}b", "a state is set on a value that is not an object");
    body("a memo entry that was never set", "h\x07", "memo entry 7 was never set");
    body("a memo entry far away", std::string("Nr\xff\xff\xff\xff"),
         "memo entry 4294967295 is beyond");
    body("text longer than the file", "X\xff\xff\xff\x7f",
         "2147483647 bytes are wanted, 1 are left");
    body("text of 2^63 bytes", "\x8d\xff\xff\xff\xff\xff\xff\xff\xff", "are wanted");
    body("a frame longer than the file", std::string("\x95\xff\0\0\0\0\0\0\0", 9),
         "a frame of 255");
    body("INT that is none", "I1x\n", "'1x' is not an integer");
    body("a line without end", "cos", "cut short inside a line");
    body("deep marks", std::string(70000, '('), "nests deeper than 65536 marks");
  }
  void refuses() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, message);
    const auto pickle = Read(bytes.toStdString());
    QVERIFY(!pickle);
    const QString said = QString::fromStdString(pickle.error().ToString());
    QVERIFY2(said.contains(message), qPrintable(said));
    QVERIFY2(said.startsWith(QStringLiteral("a.pkl: byte ")), qPrintable(said));
    QVERIFY(!said.contains(QLatin1Char('\n')));
  }

  void unknownGlobalsAreListed() {
    const auto pickle = Read(p::Whole(p::List({p::Global("b", "C"), p::Global("a\x01", "B"),
                                               p::Global("b", "C"), p::Global("torch", "Size")})));
    QVERIFY2(pickle, pickle ? "" : pickle.error().ToString().c_str());
    QCOMPARE((*pickle)->UnknownGlobals(), (std::vector<std::string>{"a\\x01.B", "b.C"}));
  }

  void valuesKnowWhereTheyWereMade() {
    const auto pickle = Read(p::Whole("K\x01K\x02\x86"));
    QVERIFY(pickle);
    QCOMPARE((*pickle)->root().size(), std::size_t{2});
    QCOMPARE(QString::fromStdString((*pickle)->root()[1].At("here").ToString()),
             QStringLiteral("a.pkl: byte 104: here"));
  }

  void aListThatContainsItselfIsBounded() {
    const auto pickle = Read(p::Whole(std::string("]q\0h\0a", 6)));
    QVERIFY(pickle);
    const auto root = (*pickle)->root();
    QCOMPARE(root.size(), std::size_t{1});
    QVERIFY(root[0].is(Kind::kList));
    const auto json = checkpoint::ToJson(root);
    QVERIFY(!json);
    QVERIFY(json.error().ToString().find("nest deeper than 64") != std::string::npos);
  }

  void laughsAreBounded() {
    // Each of 60 lists holds the one before twice: a walk of all of them would visit 2^60 values.
    std::string body = "]q";
    body += '\0';
    for (int i = 0; i < 60; ++i) {
      const std::string get = Raw({'h', i});
      body += "](" + get + get + "e" + Raw({'q', i + 1});
    }
    const auto pickle = Read(p::Whole(body));
    QVERIFY2(pickle, pickle ? "" : pickle.error().ToString().c_str());
    const auto json = checkpoint::ToJson((*pickle)->root());
    QVERIFY(!json);
    QVERIFY(json.error().ToString().find("values to show") != std::string::npos);
  }

  void cutAtEachByteIsAnError() {
    const std::string whole = p::Whole(
        p::Object(p::Global("argparse", "Namespace"),
                  p::Dict({{p::Text("a"), p::Tuple({p::Int(1), p::Int(70000), p::Int(1LL << 40)})},
                           {p::Text("b"), p::List({Raw({'G', 1, 2, 3, 4, 5, 6, 7, 8}), "N"})}})));
    QVERIFY(Read(whole));
    for (std::size_t size = 0; size < whole.size(); ++size) QVERIFY(!Read(whole.substr(0, size)));
  }
};

TESSERA_TEST_APPLESS(TorchPickleTest)
#include "torch_pickle_test.moc"
