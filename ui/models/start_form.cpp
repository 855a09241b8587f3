// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/start_form.h"

#include <QLocale>
#include <algorithm>
#include <utility>

#include "engine/cluster/holding.h"
#include "engine/model/job_layout.h"
#include "engine/model/large_models.h"
#include "engine/store/memory_needs.h"
#include "ui/format.h"
#include "ui/sentences.h"

namespace tessera::ui {
namespace {

using engine::JobSetting;

constexpr const char* kSequence = "sequence";  // one of the main fields

struct SettingText {
  QString label;
  QString help;
};

SettingText settingText(const QString& key) {
  const std::map<QString, SettingText> texts = {
      {QStringLiteral("precision"),
       {StartForm::tr("Precision"), StartForm::tr("Type of the parameters. bf16 keeps fp32 "
                                                  "masters beside them.")}},
      {QStringLiteral("dropout"),
       {StartForm::tr("Dropout"),
        StartForm::tr("Probability of dropout in embeddings, attention and residual branches.")}},
      {QStringLiteral("learning_rate"),
       {StartForm::tr("Learning rate"), StartForm::tr("Highest rate, after the warm-up.")}},
      {QStringLiteral("min_learning_rate"),
       {StartForm::tr("Lowest learning rate"), StartForm::tr("Rate at the end of the cosine.")}},
      {QStringLiteral("warmup_steps"),
       {StartForm::tr("Warm-up steps"),
        StartForm::tr("Steps in which the learning rate rises to its highest value.")}},
      {QStringLiteral("cosine_steps"),
       {StartForm::tr("Cosine steps"),
        StartForm::tr("Steps in which the learning rate falls to its lowest value.")}},
      {QStringLiteral("weight_decay"),
       {StartForm::tr("Weight decay"), StartForm::tr("Decoupled weight decay of AdamW.")}},
      {QStringLiteral("beta1"),
       {StartForm::tr("Beta 1"), StartForm::tr("Decay of AdamW's first moment.")}},
      {QStringLiteral("beta2"),
       {StartForm::tr("Beta 2"), StartForm::tr("Decay of AdamW's second moment.")}},
      {QStringLiteral("epsilon"),
       {StartForm::tr("Epsilon"), StartForm::tr("Added to the denominator of AdamW.")}},
      {QStringLiteral("max_norm"),
       {StartForm::tr("Largest gradient norm"),
        StartForm::tr("Gradients with a larger norm are scaled down; 0 switches this off.")}},
      {QStringLiteral("collective_timeout"),
       {StartForm::tr("Collective timeout"),
        StartForm::tr("Seconds that a rank waits for another in one collective; 0: 20 usual "
                      "steps, at least 30 s.")}},
      {QStringLiteral("at_change"),
       {StartForm::tr("Data at a change"),
        StartForm::tr("What happens to the position in the data when the mesh changes. All but "
                      "keep are deliberate mistakes for lessons.")}},
      {QStringLiteral("layers"), {StartForm::tr("Layers"), StartForm::tr("Blocks of the model.")}},
      {QStringLiteral("width"),
       {StartForm::tr("Width"), StartForm::tr("Size of a hidden state. The heads divide it.")}},
      {QStringLiteral("heads"),
       {StartForm::tr("Heads"), StartForm::tr("Attention heads of a layer.")}},
      {QStringLiteral("kv_heads"),
       {StartForm::tr("Key and value heads"),
        StartForm::tr("Shared by groups of heads; 0: as many as heads.")}},
      {QStringLiteral("ffn"),
       {StartForm::tr("Feed-forward width"), StartForm::tr("Inner size of the MLP.")}},
      {QStringLiteral("vocab"), {StartForm::tr("Vocabulary"), StartForm::tr("Different tokens.")}},
      {QStringLiteral("sequence"),
       {StartForm::tr("Sequence"), StartForm::tr("Tokens of a sample.")}},
      {QStringLiteral("gated_mlp"),
       {StartForm::tr("Gated MLP"), StartForm::tr("SwiGLU in place of GELU.")}},
      {QStringLiteral("tied_head"),
       {StartForm::tr("Tied head"), StartForm::tr("The head is the token embedding.")}},
      {QStringLiteral("gelu"),
       {StartForm::tr("GELU"), StartForm::tr("Form of GELU of an MLP that is not gated.")}},
  };
  const auto found = texts.find(key);
  return found == texts.end() ? SettingText{key, {}} : found->second;
}

/// The order of the fields: what is changed most often comes first.
int rankOf(const QString& key) {
  static const QStringList order =
      QStringLiteral(
          "precision dropout learning_rate min_learning_rate warmup_steps cosine_steps "
          "weight_decay "
          "max_norm beta1 beta2 epsilon collective_timeout layers width heads kv_heads ffn vocab "
          "sequence gelu gated_mlp tied_head at_change")
          .split(u' ');
  const auto at = order.indexOf(key);
  return static_cast<int>(at < 0 ? order.size() : at);
}

QString numberText(double number, bool isInteger) {
  if (isInteger) return format::count(static_cast<std::int64_t>(number));
  return QLocale().toString(number, 'g', 10);
}

bool hasJob(const engine::ClusterSnapshot& cluster, const QString& name) {
  return std::ranges::find(cluster.jobs, name.toStdString(), &engine::JobStatus::name) !=
         cluster.jobs.end();
}

}  // namespace

QString StartForm::value(const QString& key) const {
  const auto found = values.find(key);
  return found == values.end() ? QString() : found->second.trimmed();
}

StartField StartForm::fieldOf(const JobSetting& setting) {
  const QString key = QString::fromStdString(setting.name);
  SettingText text = settingText(key);
  StartField field{key, std::move(text.label), std::move(text.help),
                   QString::fromStdString(setting.value)};
  for (const std::string& choice : setting.choices) field.choices << QString::fromStdString(choice);
  if (field.choices.isEmpty())
    field.limits = tr("%1 to %2")
                       .arg(numberText(setting.least, setting.is_integer),
                            numberText(setting.most, setting.is_integer));
  return field;
}

engine::JobSettings StartForm::settingsOf(const QString& model) {
  engine::JobSettings settings;
  const std::string name = model.toStdString();
  if (const auto found = engine::FindAnyModel(name)) settings.model = *found;
  if (engine::IsLargeModel(name)) settings.global_batch = engine::kLargeBatch;
  return settings;
}

QStringList StartForm::modelsOf(const engine::ClusterSnapshot& cluster) {
  QStringList names;
  for (const std::string& name : engine::ModelNames()) names << QString::fromStdString(name);
  if (cluster.simulation)
    for (const std::string& name : engine::LargeModelNames()) names << QString::fromStdString(name);
  return names;
}

std::vector<StartField> StartForm::moreFields() const {
  if (program != Program::BuiltIn) return {};
  std::vector<StartField> fields;
  for (const JobSetting& setting : engine::SettingsOf(settingsOf(model)))
    if (setting.name != kSequence) fields.push_back(fieldOf(setting));
  fields.push_back({start_field::kSeed, tr("Seed"),
                    tr("Of the initial state and of the order of samples."), QStringLiteral("1"),
                    tr("%1 to %2").arg(format::count(0), format::count(kLargestStartCount))});
  std::ranges::stable_sort(fields, {}, [](const StartField& field) {
    return field.key == start_field::kSeed ? rankOf(QStringLiteral("learning_rate"))
                                           : rankOf(field.key);
  });
  return fields;
}

StartField StartForm::settingField(const QString& key) const {
  for (const JobSetting& setting : engine::SettingsOf(settingsOf(model)))
    if (key.toStdString() == setting.name) return fieldOf(setting);
  return {key, key, {}, {}};
}

QString StartForm::freeName(const QString& usual, const engine::ClusterSnapshot& cluster) {
  QString name = usual;
  for (int i = 2; hasJob(cluster, name); ++i) name = usual + QLatin1Char('-') + QString::number(i);
  return name;
}

QString StartForm::modelFacts(const QString& model) {
  const engine::JobSettings settings = settingsOf(model);
  const auto tensors = engine::MakeCollection(settings, false);
  if (!tensors) return localized(tensors.error().message);
  std::int64_t parameters = 0;
  for (const ptc::TensorSpec& tensor : (*tensors)->tensors()) {
    if (tensor.role != ptc::TensorRole::kParam) continue;
    std::int64_t elements = 1;
    for (const std::int64_t size : tensor.shape) elements *= size;
    parameters += elements;
  }
  return tr("%1 parameters · %2 layers · %3 of state")
      .arg(format::shortCount(static_cast<double>(parameters)),
           format::count(settings.model.layers), format::bytes((*tensors)->total_bytes()));
}

std::optional<StartMemory> startMemory(const engine::JobSettings& settings,
                                       const engine::Candidate& candidate) {
  const auto tensors = engine::TensorsOf(settings, candidate.options.zero);
  auto mesh = ptc::DeviceMesh::Make(candidate.mesh, candidate.devices);
  if (!tensors || !mesh) return std::nullopt;
  const auto layout = engine::MakeLayout(*tensors, std::move(*mesh));
  if (!layout) return std::nullopt;
  const engine::MemoryNeeds needs(*layout, *layout);
  int fullest = 0;
  std::int64_t needed = 0;
  // The search has counted the same: no rank holds more than its peak.
  for (int rank = 0; rank < layout->mesh().num_ranks() && needed < candidate.peak_bytes; ++rank)
    if (const std::int64_t bytes = needs.OfLayout(rank); bytes > needed) {
      needed = bytes;
      fullest = rank;
    }
  const engine::Holding holding = engine::HoldingOf(*layout, fullest);
  StartMemory memory{.parameters = holding.parameter_bytes,
                     .optimizer = holding.optimizer_bytes,
                     .gradients = holding.gradient_bytes,
                     .capacity = candidate.capacity};
  memory.other =
      std::max<std::int64_t>(0, needed - memory.parameters - memory.optimizer - memory.gradients);
  return memory;
}

}  // namespace tessera::ui
