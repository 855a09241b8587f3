// SPDX-License-Identifier: Apache-2.0
#include <QTemporaryDir>
#include <QTest>

#include "engine/checkpoint/torch/torch.h"
#include "tests/engine/checkpoint/torch/torch_builder.h"
#include "tests/support/test_main.h"

using namespace tessera;
namespace fs = std::filesystem;
namespace p = test::pickle;
using checkpoint::Checkpoint;

namespace {

using Opened = Result<std::shared_ptr<const Checkpoint>>;

std::string Said(const Opened& opened) { return opened ? "opened" : opened.error().ToString(); }

test::TensorSpec Vector(std::int64_t size) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < size; ++i) values.push_back(static_cast<float>(i));
  return {"FloatStorage", test::Floats(values), size, {size}, {1}};
}

/// A tensor of a subclass, as torch.save writes it.
std::string OfType(const std::string& function, const std::string& type, const std::string& args,
                   const std::string& state) {
  return p::Call(p::Global("torch._tensor", "_rebuild_from_type_v2"),
                 {function, type, args, state});
}

/// A DTensor, whose elements are in the tensor `local` of its state.
std::string DTensor(const std::string& local) {
  const std::string type = p::Global("torch.distributed.tensor", "DTensor");
  const std::string args = p::Tuple(
      {type, p::Global("torch", "float32"), p::Ints({6}), p::Ints({1}), p::Int(0),
       p::Call(p::Global("torch.serialization", "_get_layout"), {p::Text("torch.strided")}),
       p::Call(p::Global("torch", "device"), {p::Text("cpu")}), "\x89"});
  return OfType(p::Global("torch._utils", "_rebuild_wrapper_subclass"), type, args,
                p::Tuple({"N", p::Dict({{p::Text("_local_tensor"), local}})}));
}

std::vector<std::string> Names(const Checkpoint& checkpoint) {
  std::vector<std::string> names;
  for (const auto& tensor : checkpoint.tensors()) names.push_back(tensor.name);
  return names;
}

}  // namespace

class TorchSaveTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir m_dir;
  fs::path dir() const { return m_dir.path().toStdString(); }

 private slots:
  void nestedDictsAreFlattened() {
    const test::TensorSpec four = Vector(4);
    test::TensorSpec tail = four;  // the same storage from its third element
    tail.shape = {2};
    tail.offset = 2;
    const std::string parameter = p::Call(p::Global("torch._utils", "_rebuild_parameter"),
                                          {test::TensorCall(tail, "0"), "\x88", "N"});
    const std::string body = p::Dict(
        {{p::Text("model"),
          p::Dict({{p::Text("w"), test::TensorCall(four, "0")}, {p::Text("tail"), parameter}})},
         {p::Text("optimizer"),
          p::Dict({{p::Text("state"),
                    p::Dict({{p::Int(0),
                              p::Dict({{p::Text("exp_avg"), test::TensorCall(four, "0")}})}})},
                   {p::Text("param_groups"), p::List({p::Dict({{p::Text("step"), p::Int(3)}})})}})},
         {p::Text("rng"), p::List({test::TensorCall(four, "0")})},
         {p::Text("epoch"), p::Int(7)}});
    const fs::path path = dir() / "a.pt";
    test::WriteFile(path, test::TorchSave(body, {four.bytes}));
    const Opened opened = Checkpoint::Open(path.string());
    QVERIFY2(opened, Said(opened).c_str());
    const Checkpoint& c = **opened;
    QCOMPARE(c.format(), checkpoint::Format::kTorchSave);
    QCOMPARE(Names(c), (std::vector<std::string>{"model.tail", "model.w",
                                                 "optimizer.state.0.exp_avg", "rng.0"}));
    QCOMPARE(c.metadata().at("epoch"), std::string("7"));
    QCOMPARE(c.metadata().at("optimizer.param_groups"), std::string(R"([{"step":3}])"));
    std::vector<float> values(2);
    QVERIFY(c.Read(0, *ptc::Box::Whole({2}), std::as_writable_bytes(std::span(values))));
    QCOMPARE(values, (std::vector<float>{2, 3}));

    const std::string whole = test::ReadWholeFile(path);
    for (std::size_t size = whole.size(); size-- > 0;) {
      fs::resize_file(path, size);
      const Opened cut = checkpoint::OpenTorch(path.string());
      QVERIFY(!cut);
      QVERIFY2(Said(cut).starts_with(path.string() + ": byte "), Said(cut).c_str());
    }
  }

  void aTensorAlone() {
    const fs::path path = dir() / "alone.pt";
    test::WriteFile(path, test::TorchSave(Vector(3)));
    const Opened opened = Checkpoint::Open(path.string());
    QVERIFY2(opened, Said(opened).c_str());
    QCOMPARE(Names(**opened), std::vector<std::string>{"tensor"});
  }

  void refuses_data() {
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* name, const std::string& body, const char* message) {
      QTest::newRow(name) << QByteArray::fromStdString(body) << QString::fromLatin1(message);
    };
    const std::string tensor = test::TensorCall(Vector(3), "0");
    row("a module", p::Call(p::Global("torch.nn.modules.linear", "Linear"), {}),
        "the file holds an object of torch.nn.modules.linear.Linear, not a dict of tensors");
    row("a complex tensor",
        p::Dict({{p::Text("ok"), tensor},
                 {p::Text("m"),
                  p::Dict({{p::Text("c"),
                            test::TensorCall({"ComplexDoubleStorage", "", 3, {3}, {1}}, "0")}})}}),
        "tensor 'm.c': ");
    row("two paths of one name",
        p::Dict({{p::Text("a.b"), tensor}, {p::Text("a"), p::Dict({{p::Text("b"), tensor}})}}),
        "tensor 'a.b'");
    row("a key that is no name", p::Dict({{p::Text("a\n"), tensor}}),
        "a key is neither printable text nor an integer");
    row("a list that contains itself",
        "]q" + std::string(1, '\0') + "h" + std::string(1, '\0') + "a",
        "values nest deeper than 64");
  }
  void refuses() {
    QFETCH(QByteArray, body);
    QFETCH(QString, message);
    const fs::path path = dir() / "bad.pt";
    test::WriteFile(path, test::TorchSave(body.toStdString(), {Vector(3).bytes}));
    const Opened opened = Checkpoint::Open(path.string());
    QVERIFY(!opened);
    QVERIFY2(Said(opened).find(message.toStdString()) != std::string::npos, Said(opened).c_str());
    QVERIFY(Said(opened).find('\n') == std::string::npos);
  }

  // Their elements are in the file, so a file without them would be a loss that nobody sees.
  void tensorsOfOtherKindsAreRefused_data() {
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QString>("kind");
    const auto row = [](const char* name, const std::string& value, const char* kind) {
      QTest::newRow(name) << QByteArray::fromStdString(value) << QString::fromLatin1(kind);
    };
    const std::string tensor = test::TensorCall(Vector(3), "0");
    const std::string own = p::Global("my.code", "Quantised");
    row("DTensor", DTensor(tensor),
        "torch.distributed.tensor.DTensor (torch._utils._rebuild_wrapper_subclass)");
    row("a parameter of one",
        p::Call(p::Global("torch._utils", "_rebuild_parameter"), {DTensor(tensor), "\x88", "N"}),
        "torch.distributed.tensor.DTensor (torch._utils._rebuild_wrapper_subclass)");
    row("a parameter of an unknown class",
        p::Call(p::Global("torch._utils", "_rebuild_parameter"),
                {p::Call(own, {tensor}), "\x88", "N"}),
        "my.code.Quantised");
    row("qtensor", p::Call(p::Global("torch._utils", "_rebuild_qtensor"), {tensor}),
        "torch._utils._rebuild_qtensor");
    row("sparse", p::Call(p::Global("torch._utils", "_rebuild_sparse_tensor"), {tensor}),
        "torch._utils._rebuild_sparse_tensor");
    row("made by an unknown function",
        OfType(p::Global("my.code", "make"), own, p::Tuple({tensor}), "}"),
        "my.code.Quantised (my.code.make)");
    row("without arguments", p::Call(p::Global("torch._tensor", "_rebuild_from_type_v2"), {}),
        "torch._tensor._rebuild_from_type_v2");
  }
  void tensorsOfOtherKindsAreRefused() {
    QFETCH(QByteArray, value);
    QFETCH(QString, kind);
    const std::string v = value.toStdString();
    const std::string tensor = test::TensorCall(Vector(3), "0");
    const std::vector<std::pair<std::string, std::string>> places = {
        {v, "tensor 'tensor': "},
        {p::Dict({{p::Text("w"), v}}), "tensor 'w': "},
        {p::Dict({{p::Text("a"), tensor}, {p::Text("w"), v}}), "tensor 'w': "},
        {p::Dict({{p::Text("a"), tensor}, {p::Text("m"), p::Dict({{p::Text("w"), v}})}}),
         "tensor 'm.w': "},
        {p::Dict({{p::Text("l"), p::List({v})}}), "tensor 'l.0': "}};
    const fs::path path = dir() / "other.pt";
    for (const auto& [body, where] : places) {
      test::WriteFile(path, test::TorchSave(body, {Vector(3).bytes}));
      const std::string said = Said(Checkpoint::Open(path.string()));
      QVERIFY2(said.starts_with(where), said.c_str());
      const std::string what = "tessera does not read tensors of " + kind.toStdString() + "; save";
      QVERIFY2(said.find(what) != std::string::npos, said.c_str());
      QVERIFY(said.find('\n') == std::string::npos);
    }
  }

  void storagesThatNoTensorUsesAreNamed() {
    const std::string bytes = Vector(3).bytes;
    const auto tensor = [](const char* key) { return test::TensorCall(Vector(3), key); };
    // Tensors in objects that are not walked: of an unknown class, in a set, in a subclass of dict.
    const std::string unknown = p::Call(p::Global("my.code", "Quantised"), {tensor("1")});
    const std::string set = p::Call(p::Global("builtins", "set"), {p::List({tensor("2")})});
    const std::string subclass = p::Global("my.code", "StateDict") + ")\x81" +
                                 p::Dict({{p::Text("w"), tensor("3")}}).substr(1);
    const fs::path path = dir() / "left.pt";
    test::WriteFile(
        path, test::TorchSave(p::Dict({{p::Text("w"), tensor("0")},
                                       {p::Text("nested"), p::Dict({{p::Text("q"), unknown}})},
                                       {p::Text("set"), set},
                                       {p::Text("state"), subclass}}),
                              {bytes, bytes, bytes, bytes, ""}));
    const Opened opened = Checkpoint::Open(path.string());
    QVERIFY2(opened, Said(opened).c_str());
    QCOMPARE(Names(**opened), std::vector<std::string>{"w"});
    QCOMPARE((*opened)->UnreadFiles(),
             std::vector<std::string>{
                 "'left.pt': storages with 36 bytes are not read: data/1, data/2, data/3"});
    for (const std::string& value : {unknown, set, subclass}) {
      test::WriteFile(
          path, test::TorchSave(p::Dict({{p::Text("x"), value}}), {bytes, bytes, bytes, bytes}));
      const std::string said = Said(Checkpoint::Open(path.string()));
      QVERIFY2(said.starts_with(path.string() + ": byte "), said.c_str());
      QVERIFY2(said.ends_with("no tensor is found, storages with 48 bytes are not read: data/0, "
                              "data/1, data/2, data/3; save a dict of tensors"),
               said.c_str());
    }
  }

  void whatIsNoTensorIsNamed() {
    const std::string unknown = p::Call(p::Global("my.code", "Config"), {p::Text("x")});
    std::string many = "(";
    for (int i = 0; i < 200'000; ++i) many += "N";
    const fs::path path = dir() / "mixed.pt";
    test::WriteFile(
        path, test::TorchSave(p::Dict({{p::Text("w"), test::TensorCall(Vector(3), "0")},
                                       {p::Text("cfg"), unknown},
                                       {p::Text("history"), many + "l"},
                                       {p::Text("groups"), p::Dict({{p::Text("lr"), unknown}})}}),
                              {Vector(3).bytes}));
    const Opened opened = Checkpoint::Open(path.string());
    QVERIFY2(opened, Said(opened).c_str());
    QCOMPARE(Names(**opened), std::vector<std::string>{"w"});
    QCOMPARE((*opened)->opaque(), (std::vector<std::string>{"cfg (my.code.Config)", "history"}));
    QCOMPARE((*opened)->metadata().at("groups"),
             std::string(R"({"lr":{"object":"my.code.Config"}})"));
  }

  void fourBitsCountInPairs() {
    const auto call = [](std::vector<std::int64_t> strides) {
      const std::string storage =
          p::Tuple({p::Text("storage"), p::Global("torch.storage", "UntypedStorage"), p::Text("0"),
                    p::Text("cpu"), p::Int(6)}) +
          "Q";
      return p::Call(p::Global("torch._utils", "_rebuild_tensor_v3"),
                     {storage, p::Int(0), p::Ints({2, 3}), p::Ints(std::move(strides)), "\x89", "}",
                      p::Global("torch", "float4_e2m1fn_x2")});
    };
    const fs::path path = dir() / "f4.pt";
    test::WriteFile(path, test::TorchSave(p::Dict({{p::Text("q"), call({3, 1})}}), {"abcdef"}));
    const Opened opened = Checkpoint::Open(path.string());
    QVERIFY2(opened, Said(opened).c_str());
    const checkpoint::StoredTensor& tensor = (*opened)->tensors()[0];
    QVERIFY(tensor.dtype == ptc::DType::kF4);
    QVERIFY((tensor.shape == ptc::Shape{2, 6}));
    std::string bytes(6, '\0');
    QVERIFY((*opened)->Read(0, *ptc::Box::Whole({2, 3}), std::as_writable_bytes(std::span(bytes))));
    QCOMPARE(bytes, std::string("abcdef"));
    test::WriteFile(path, test::TorchSave(p::Dict({{p::Text("q"), call({1, 2})}}), {"abcdef"}));
    QVERIFY(Said(Checkpoint::Open(path.string())).find("tensor 'q': ") != std::string::npos);
    QVERIFY(Said(Checkpoint::Open(path.string())).find("is not contiguous") != std::string::npos);
  }

  void filesFromBeforeZipAreNamed() {
    const fs::path path = dir() / "old.pt";
    test::WriteFile(path,
                    std::string("\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.") +
                        std::string(100, 'x'));
    QVERIFY2(Said(Checkpoint::Open(path.string()))
                     .find("a file of torch.save from before PyTorch 1.6") != std::string::npos,
             Said(Checkpoint::Open(path.string())).c_str());
  }

  void aFolderWithAnIndex() {
    const fs::path folder = dir() / "model";
    fs::create_directory(folder);
    const auto write = [&](const char* file, const char* name) {
      test::WriteFile(folder / file,
                      test::TorchSave(p::Dict({{p::Text(name), test::TensorCall(Vector(3), "0")}}),
                                      {Vector(3).bytes}));
    };
    write("pytorch_model-00001-of-00002.bin", "a");
    write("pytorch_model-00002-of-00002.bin", "b");
    const fs::path index = folder / "pytorch_model.bin.index.json";
    test::WriteFile(index, R"({"metadata":{"total_size":24},"weight_map":{
        "a":"pytorch_model-00001-of-00002.bin","b":"pytorch_model-00002-of-00002.bin"}})");
    const Opened opened = Checkpoint::Open(folder.string());
    QVERIFY2(opened, Said(opened).c_str());
    QCOMPARE(Names(**opened), (std::vector<std::string>{"a", "b"}));
    QCOMPARE((*opened)->files().size(), std::size_t{2});
    QVERIFY((*opened)->UnreadFiles().empty());
    for (const char* of_trainer : {"training_args.bin", "optimizer.bin", "optimizer_1.bin",
                                   "scheduler.bin", "sampler.bin", "sampler_12.bin"}) {
      test::WriteFile(folder / of_trainer, "");
    }
    write("mtp.bin", "c");
    const Opened more = Checkpoint::Open(folder.string());
    QVERIFY2(more, Said(more).c_str());
    QCOMPARE((*more)->UnreadFiles(),
             std::vector<std::string>{
                 "'mtp.bin' is not read: pytorch_model.bin.index.json does not name it"});

    test::WriteFile(index, R"({"weight_map":{"c":"pytorch_model-00001-of-00002.bin"}})");
    QVERIFY(Said(Checkpoint::Open(folder.string())).find("tensor 'c' is not in 'pytorch_model-0") !=
            std::string::npos);
    test::WriteFile(index, R"({"weight_map":{"a":"../a.bin"}})");
    QVERIFY(Said(Checkpoint::Open(folder.string()))
                .find("'../a.bin' is not the name of a file in this folder") != std::string::npos);
    fs::remove(index);
    fs::rename(folder / "pytorch_model-00001-of-00002.bin", folder / "pytorch_model.bin");
    const Opened single = Checkpoint::Open(folder.string());
    QVERIFY2(single, Said(single).c_str());
    const std::string why =
        "' is not read: without pytorch_model.bin.index.json only pytorch_model.bin is";
    QCOMPARE(
        (*single)->UnreadFiles(),
        (std::vector<std::string>{"'mtp.bin" + why, "'pytorch_model-00002-of-00002.bin" + why}));
    test::WriteFile(folder / "model.safetensors", "");
    QVERIFY(!checkpoint::IsTorch(folder.string()));  // safetensors go first
  }
};

TESSERA_TEST_APPLESS(TorchSaveTest)
#include "torch_save_test.moc"
