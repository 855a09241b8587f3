// SPDX-License-Identifier: Apache-2.0
#include "tests/agents/trainer_oracle.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "agents/data/job_data.h"
#include "agents/job/decision.h"
#include "agents/train/comm/groups.h"
#include "agents/train/model/initialise.h"
#include "agents/train/private_state.h"
#include "agents/train/trainer.h"

namespace tessera::test {
namespace {

using agents::train::PrivateState;
using Values = std::map<std::string, std::vector<double>>;  // of uncut tensors, by name

/// The bytes that both programs train on, from a linear congruential generator.
QByteArray OracleText(std::int64_t size) {
  QByteArray text;
  std::uint32_t state = 12345;
  for (std::int64_t i = 0; i < size; ++i) {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    text.append(static_cast<char>(97 + (state >> 16) % 26));
  }
  return text;
}

engine::JobSettings SettingsOf(const QJsonObject& file) {
  const QJsonObject model = file["model"].toObject(), job = file["job"].toObject();
  engine::JobSettings settings;
  engine::GptConfig& config = settings.model;
  config.name = "oracle";
  config.layers = model["layers"].toInteger();
  config.width = model["width"].toInteger();
  config.heads = model["heads"].toInteger();
  config.kv_heads = model["kv_heads"].toInteger();
  config.ffn = model["ffn"].toInteger();
  config.vocab = model["vocab"].toInteger();
  config.sequence = model["sequence"].toInteger();
  config.gated_mlp = model["gated_mlp"].toBool();
  config.tied_head = model["tied_head"].toBool();
  config.gelu = *engine::ParseGelu(model["gelu"].toString().toStdString());
  settings.seed = job["seed"].toInteger();
  settings.global_batch = job["global_batch"].toInteger();
  settings.warmup_steps = job["warmup_steps"].toInteger();
  settings.learning_rate = job["learning_rate"].toDouble();
  settings.beta1 = job["beta1"].toDouble();
  settings.beta2 = job["beta2"].toDouble();
  settings.epsilon = job["epsilon"].toDouble();
  settings.weight_decay = job["weight_decay"].toDouble();
  settings.max_norm = job["max_norm"].toDouble();
  settings.precision = *engine::ParsePrecision(job["precision"].toString().toStdString());
  return settings;
}

/// The index of element `i` of a piece in the uncut tensor.
std::size_t WholeIndex(const tessera_piece& piece, std::int64_t i) {
  std::int64_t index = 0, stride = 1;
  for (int d = piece.rank - 1; d >= 0; --d) {
    const std::int64_t size = piece.end[d] - piece.begin[d];
    index += (piece.begin[d] + i % size) * stride;
    i /= size;
    stride *= piece.shape[d];
  }
  return static_cast<std::size_t>(index);
}

/// Assembles f32 tensors. `data` returns the memory of a piece, or null to omit it.
template <typename Data>
Values Whole(const PrivateState& state, Data data) {
  Values whole;
  for (const tessera_piece& piece : state.pieces()) {
    const auto* from = static_cast<const float*>(data(piece));
    if (from == nullptr) continue;
    std::size_t elements = 1;
    for (int d = 0; d < piece.rank; ++d) elements *= static_cast<std::size_t>(piece.shape[d]);
    std::string name = piece.name;
    if (name.ends_with(".master")) name.resize(name.size() - std::string(".master").size());
    auto& values = whole[name];
    values.resize(elements);
    for (std::int64_t i = 0; i < piece.num_elements; ++i) {
      values[WholeIndex(piece, i)] = static_cast<double>(from[i]);
    }
  }
  return whole;
}

QString Differs(const QString& what, double ours, double theirs, double tolerance) {
  if (std::abs(ours - theirs) <= tolerance) return {};
  return QStringLiteral("%1 is %2, PyTorch has %3")
      .arg(what)
      .arg(ours, 0, 'g', 9)
      .arg(theirs, 0, 'g', 9);
}

double NormOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

/// Compares norms and elements of all tensors. Elements may differ by `relative` of themselves or
/// of the root mean square of the tensor, and by `absolute`.
QString CompareTensors(const QString& what, const Values& ours, const QJsonObject& theirs,
                       double relative, double absolute) {
  if (static_cast<qsizetype>(ours.size()) != theirs.size()) {
    return QStringLiteral("%1 %2 tensors, PyTorch has %3")
        .arg(ours.size())
        .arg(what)
        .arg(theirs.size());
  }
  for (const auto& [name, values] : ours) {
    const QString of = what + u' ' + QString::fromStdString(name);
    const QJsonObject tensor = theirs[QString::fromStdString(name)].toObject();
    const QJsonArray at = tensor["at"].toArray(), elements = tensor["elements"].toArray();
    if (at.isEmpty() || at.size() != elements.size()) return of + QStringLiteral(" is missing");
    const double norm = tensor["norm"].toDouble();
    const double count = static_cast<double>(values.size());
    const double rms = norm / std::sqrt(count);
    if (const QString wrong = Differs(QStringLiteral("norm of ") + of, NormOf(values), norm,
                                      relative * norm + absolute * std::sqrt(count));
        !wrong.isEmpty()) {
      return wrong;
    }
    for (qsizetype i = 0; i < at.size(); ++i) {
      const double expected = elements[i].toDouble();
      const double value = values.at(static_cast<std::size_t>(at[i].toInteger()));
      const QString wrong =
          Differs(QStringLiteral("element %1 of %2").arg(at[i].toInteger()).arg(of), value,
                  expected, relative * std::max(std::abs(expected), rms) + absolute);
      if (!wrong.isEmpty()) return wrong;
    }
  }
  return {};
}

/// The gradient of a key bias is 0 except for rounding, because the softmax does not change if all
/// scores of a row change equally. AdamW may turn it into a step of any size, so these updates are
/// not compared.
void LeaveOutKeyBiases(Values& updated, const Values& gradients, QJsonObject& theirs) {
  for (auto& [name, values] : updated) {
    if (!name.ends_with("attn.qkv.bias")) continue;
    const QString key = QString::fromStdString(name);
    QJsonObject tensor = theirs[key].toObject();
    const QJsonArray at = tensor["at"].toArray();
    std::vector<double> compared(values.size());  // 0 except for the elements in the file
    QJsonArray elements = tensor["elements"].toArray();
    for (qsizetype i = 0; i < at.size(); ++i) {
      const auto index = static_cast<std::size_t>(at[i].toInteger());
      if (std::abs(gradients.at(name)[index]) < 1e-6) {
        elements[i] = 0;
      } else {
        compared[index] = values[index];
      }
    }
    double sum = 0;
    for (const QJsonValue& element : elements) sum += element.toDouble() * element.toDouble();
    tensor["elements"] = elements;
    tensor["norm"] = std::sqrt(sum);
    theirs[key] = tensor;
    values = std::move(compared);
  }
}

Result<QString> CompareJob(engine::JobSettings settings, const QJsonObject& file) {
  const QTemporaryDir folder;
  QFile text(folder.filePath("text"));
  if (!text.open(QIODevice::WriteOnly)) return Internal("no file for the text");
  text.write(OracleText(settings.global_batch * settings.model.sequence + 1));
  text.close();
  settings.data = {text.fileName().toStdString()};
  TESSERA_TRY(auto data, agents::OpenJobData(settings));
  // A batch is a whole pass, so the order of samples within a pass does not matter.
  if (data.num_samples() != settings.global_batch) return Internal("not one batch of samples");
  TESSERA_TRY(const auto collection, engine::MakeCollection(settings, false));
  TESSERA_TRY(const auto mesh, ptc::DeviceMesh::Make({}, {ptc::DeviceId{}}));
  TESSERA_TRY(const auto layout, ptc::Layout::Make(mesh, collection));
  const PrivateState memory(layout, 0);
  TESSERA_TRY(const auto state, agents::train::BindState(memory.pieces()));
  agents::train::Initialise(settings, state);
  agents::train::Trainer trainer(settings, std::move(data));
  if (auto bound = trainer.Bind(memory.pieces(), agents::train::SelfGroups(), 0); !bound) {
    return bound.error();
  }
  const bool is_bf16 = settings.precision == engine::Precision::kBf16;
  const QJsonArray losses = file["losses"].toArray(), norms = file["norms"].toArray();
  for (qsizetype i = 0; i < losses.size(); ++i) {
    TESSERA_TRY(const tessera_record record, trainer.ComputeGradients());
    const tessera_decision decision =
        agents::Decide(trainer.step() + 1, std::span(&record, 1), settings.max_norm);
    // Later steps compute with parameters that bf16 may have rounded the other way.
    const double tolerance = is_bf16 && i > 0 ? 1e-5 : 1e-6;
    const QString step = QStringLiteral(" of step %1").arg(i + 1);
    QString wrong = Differs("loss" + step, decision.loss, losses[i].toDouble(),
                            tolerance * losses[i].toDouble());
    if (wrong.isEmpty()) {
      wrong = Differs("gradient norm" + step, std::sqrt(decision.norm2), norms[i].toDouble(),
                      20 * tolerance * norms[i].toDouble());
    }
    const Values gradients = Whole(memory, [](const tessera_piece& piece) -> const void* {
      return std::string_view(piece.role) == "param" ? piece.gradient : nullptr;
    });
    if (wrong.isEmpty() && i == 0) {
      wrong = CompareTensors("gradient", gradients, file["gradients"].toObject(), 1e-4, 0);
    }
    if (!wrong.isEmpty()) return wrong;
    TESSERA_RETURN_IF_ERROR(trainer.PrepareUpdate(decision.clip, decision.skip != 0));
    trainer.CommitUpdate();
    if (i > 0) continue;
    Values updated = Whole(memory, [&](const tessera_piece& piece) -> const void* {
      return std::string_view(piece.role) == (is_bf16 ? "master" : "param") ? piece.data : nullptr;
    });
    QJsonObject theirs = file["updated"].toObject();
    LeaveOutKeyBiases(updated, gradients, theirs);
    const double step_size = settings.learning_rate / static_cast<double>(settings.warmup_steps);
    wrong = CompareTensors("updated", updated, theirs, 1e-6, 1e-3 * step_size);
    if (!wrong.isEmpty()) return wrong;
  }
  return QString();
}

}  // namespace

QStringList OracleCases() { return {"dense", "tied", "erf", "gqa", "gated", "bf16"}; }

QString CompareWithOracle(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return path + QStringLiteral(" cannot be read");
  const QJsonObject object = QJsonDocument::fromJson(file.readAll()).object();
  if (object["losses"].toArray().size() != 3) return path + QStringLiteral(" has not three steps");
  const auto compared = CompareJob(SettingsOf(object), object);
  return compared ? *compared : QString::fromStdString(compared.error().ToString());
}

}  // namespace tessera::test
