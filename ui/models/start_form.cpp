// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/start_form.h"

#include <QFileInfo>
#include <QLocale>
#include <QProcess>
#include <QRegularExpression>
#include <algorithm>
#include <set>
#include <utility>

#include "engine/cluster/holding.h"
#include "engine/data/formats/open_data.h"
#include "engine/data/is_url.h"
#include "engine/model/job_layout.h"
#include "engine/model/large_models.h"
#include "engine/store/memory_needs.h"
#include "ui/format.h"

namespace tessera::ui {
namespace {

using engine::JobSetting;

constexpr const char* kSequence = "sequence";  // one of the main fields
constexpr std::int64_t kGradientBytes = 4;     // of an element: gradients are f32
constexpr std::int64_t kLargestCount = std::int64_t{1} << 40;
constexpr std::int64_t kLargestBatch = 1 << 20;

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

StartField fieldOf(const JobSetting& setting) {
  const QString key = QString::fromStdString(setting.name);
  SettingText text = settingText(key);
  StartField field{key, std::move(text.label), std::move(text.help),
                   QString::fromStdString(setting.value)};
  for (const std::string& choice : setting.choices) field.choices << QString::fromStdString(choice);
  if (field.choices.isEmpty())
    field.limits = StartForm::tr("%1 to %2")
                       .arg(numberText(setting.least, setting.is_integer),
                            numberText(setting.most, setting.is_integer));
  return field;
}

bool hasJob(const engine::ClusterSnapshot& cluster, const QString& name) {
  return std::ranges::find(cluster.jobs, name.toStdString(), &engine::JobStatus::name) !=
         cluster.jobs.end();
}

engine::JobSettings settingsOf(const QString& model) {
  engine::JobSettings settings;
  if (const auto found = engine::FindAnyModel(model.toStdString())) settings.model = *found;
  return settings;
}

/// Reads a form into a check.
class StartReader {
 public:
  StartReader(const StartForm& form, const engine::ClusterSnapshot& cluster)
      : m_form(form), m_cluster(cluster) {}

  StartCheck read() {
    if (m_form.program == StartForm::Program::Script) {
      readScript();
    } else {
      m_check.request.program = StartRequest::BuiltIn{m_form.model};
      m_check.settings = settingsOf(m_form.model);
      readSettings();
      readData();
      readInteger(start_field::kBatch, 1, kLargestBatch, &m_check.settings.global_batch);
      readInteger(start_field::kSeed, 0, kLargestCount, &m_check.settings.seed);
    }
    readInteger(start_field::kSteps, 1, kLargestCount, &m_check.settings.max_steps);
    readName();
    readGpus();
    readPolicies();
    return std::move(m_check);
  }

 private:
  void fail(const QString& key, const QString& problem) {
    m_check.problems.emplace(key, problem);  // keeps the first one
  }

  void readName() {
    static const QRegularExpression form(QStringLiteral("^[a-z0-9][a-z0-9-]{0,62}$"));
    const QString given = m_form.value(start_field::kName);
    const QString name =
        given.isEmpty() ? StartForm::freeName(usualName(m_check.request), m_cluster) : given;
    m_check.request.name = name;
    if (name.isEmpty()) return;  // the program is not chosen yet
    if (!form.match(name).hasMatch()) {
      fail(start_field::kName,
           StartForm::tr("Use lower-case letters, digits and dashes, at most 63."));
    } else if (hasJob(m_cluster, name)) {
      fail(start_field::kName, StartForm::tr("There is a job %1 already.").arg(name));
    }
  }

  void readScript() {
    StartRequest::Script script{m_form.value(start_field::kScript),
                                QProcess::splitCommand(m_form.value(start_field::kArguments)),
                                m_form.value(start_field::kPython),
                                m_form.value(start_field::kDirectory)};
    if (script.path.isEmpty()) {
      fail(start_field::kScript, StartForm::tr("Choose a program in Python, such as train.py."));
    } else if (!script.path.endsWith(QLatin1String(".py"))) {
      fail(start_field::kScript, StartForm::tr("A program in Python ends in .py."));
    } else if (QFileInfo(script.path).isRelative()) {
      fail(start_field::kScript, StartForm::tr("Enter the full path, starting with /."));
    } else if (!QFileInfo(script.path).isFile()) {
      fail(start_field::kScript, StartForm::tr("This file does not exist."));
    }
    const QFileInfo folder(script.directory);
    if (!script.directory.isEmpty() && !(folder.isAbsolute() && folder.isDir()))
      fail(start_field::kDirectory, StartForm::tr("This is not the full path of a folder."));
    m_check.request.program = std::move(script);
  }

  void readSettings() {
    for (const JobSetting& setting : engine::SettingsOf(m_check.settings)) {
      const QString key = QString::fromStdString(setting.name);
      const StartField field = fieldOf(setting);
      QString text = m_form.value(key);
      // As the user's language writes numbers, or as the command line does.
      if (field.choices.isEmpty()) text.replace(QLocale().decimalPoint(), QStringLiteral("."));
      if (text.isEmpty() || text.toStdString() == setting.value) continue;
      bool isNumber = false;
      const double number = text.toDouble(&isNumber);
      if (field.choices.isEmpty() &&
          (!isNumber || number < setting.least || number > setting.most)) {
        fail(key,
             StartForm::tr("%1 is not a number from %2.").arg(m_form.value(key), field.limits));
        continue;
      }
      const Status applied =
          engine::ApplySetting(m_check.settings, setting.name, text.toStdString());
      if (!applied) {
        fail(key, QString::fromStdString(applied.error().message));
        continue;
      }
      // The command line has options of their own for these two.
      const bool isOption = key == u"precision" || key == u"dropout";
      (isOption ? m_check.request.values : m_check.request.settings)[key] = text;
    }
  }

  void readData() {
    for (const QString& part : m_form.value(start_field::kData).split(u';')) {
      const QString path = part.trimmed();
      if (path.isEmpty()) continue;
      const auto weighted = engine::ParseWeightedPath(path.toStdString());
      if (!weighted) {
        fail(start_field::kData, QString::fromStdString(weighted.error().message));
      } else if (!weighted->path.starts_with('/') && !engine::IsUrl(weighted->path)) {
        fail(start_field::kData, StartForm::tr("%1 is not a full path, starting with /.")
                                     .arg(QString::fromStdString(weighted->path)));
      }
      m_check.request.data << path;
      m_check.settings.data.push_back(path.toStdString());
    }
  }

  void readInteger(const QString& key, std::int64_t least, std::int64_t most, std::int64_t* out) {
    const QString text = m_form.value(key);
    if (text.isEmpty()) return;
    bool isNumber = false;
    const std::int64_t number = text.toLongLong(&isNumber);
    if (!isNumber || number < least || number > most) {
      fail(key, StartForm::tr("%1 is not a number from %2 to %3.")
                    .arg(text, format::count(least), format::count(most)));
      return;
    }
    if (std::exchange(*out, number) != number) m_check.request.values[key] = text;
  }

  void readPolicies() {
    const QString onFailure = m_form.value(start_field::kOnFailure);
    if (!onFailure.isEmpty() && onFailure != u"ask")
      m_check.request.values[start_field::kOnFailure] = onFailure;
    const QString every = m_form.value(start_field::kSnapshots);
    if (every.isEmpty() || every == u"off") return;
    if (engine::ParseSnapshotEvery(every.toStdString())) {
      m_check.request.values[start_field::kSnapshots] = every;
    } else {
      fail(start_field::kSnapshots,
           StartForm::tr("%1 is neither steps (20) nor a time (30s, 5m, 1h).").arg(every));
    }
  }

  void readGpus() {
    const std::vector<ptc::DeviceId> idle = idleDevices(m_cluster);
    const QString text = m_form.value(start_field::kGpus);
    if (idle.empty()) {
      fail(start_field::kGpus, nothingIdle());
    } else if (text.isEmpty()) {
      m_check.devices = idle;
    } else {
      readSomeGpus(text, idle);
    }
  }

  void readSomeGpus(const QString& text, const std::vector<ptc::DeviceId>& idle) {
    bool isNumber = false;
    const qlonglong number = text.toLongLong(&isNumber);
    if (isNumber && number >= 1 && number <= std::ssize(idle)) {
      m_check.devices.assign(idle.begin(), idle.begin() + number);
      if (number < std::ssize(idle)) m_check.request.devices = m_check.devices;
      return;
    }
    if (isNumber) {
      fail(start_field::kGpus, StartForm::tr("%1 is not a number from 1 to %2, the idle GPUs.")
                                   .arg(text, format::count(std::ssize(idle))));
      return;
    }
    const auto devices = ptc::ParseDevices(QString(text).remove(u' ').toStdString());
    if (!devices) {
      fail(start_field::kGpus,
           StartForm::tr("Enter a number of GPUs, or their names, such as n0g0,n0g1."));
      return;
    }
    for (const ptc::DeviceId device : *devices)
      if (std::ranges::find(idle, device) == idle.end())
        fail(start_field::kGpus, whyNotIdle(device));
    m_check.devices = *devices;
    const std::set<ptc::DeviceId> all(idle.begin(), idle.end());
    if (std::set(devices->begin(), devices->end()) != all) m_check.request.devices = *devices;
  }

  QString nothingIdle() const {
    for (const engine::JobStatus& job : m_cluster.jobs)
      if (!job.devices.empty())
        return StartForm::tr("No GPU is idle: %1 uses %2. Take some out of it, or stop it.")
            .arg(QString::fromStdString(job.name), format::gpus(std::ssize(job.devices)));
    return StartForm::tr("No GPU is idle.");
  }

  QString whyNotIdle(ptc::DeviceId device) const {
    for (const engine::NodeStatus& node : m_cluster.nodes)
      for (const engine::DeviceStatus& each : node.devices)
        if (each.id == device && !each.job.empty())
          return StartForm::tr("%1 is used by %2.")
              .arg(format::device(device), QString::fromStdString(each.job));
    return StartForm::tr("%1 is not an idle GPU of this cluster.").arg(format::device(device));
  }

  const StartForm& m_form;
  const engine::ClusterSnapshot& m_cluster;
  StartCheck m_check;
};

}  // namespace

QString StartForm::value(const QString& key) const {
  const auto found = values.find(key);
  return found == values.end() ? QString() : found->second.trimmed();
}

std::vector<StartField> StartForm::moreFields() const {
  if (program == Program::Script) return {};
  std::vector<StartField> fields;
  for (const JobSetting& setting : engine::SettingsOf(settingsOf(model)))
    if (setting.name != kSequence) fields.push_back(fieldOf(setting));
  fields.push_back({start_field::kSeed, tr("Seed"),
                    tr("Of the initial state and of the order of samples."), QStringLiteral("1"),
                    tr("%1 to %2").arg(format::count(0), format::count(kLargestCount))});
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
  if (!tensors) return QString::fromStdString(tensors.error().message);
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

StartCheck checkStart(const StartForm& form, const engine::ClusterSnapshot& cluster) {
  return StartReader(form, cluster).read();
}

std::vector<ptc::DeviceId> idleDevices(const engine::ClusterSnapshot& cluster) {
  std::vector<ptc::DeviceId> devices;
  for (const engine::NodeStatus& node : cluster.nodes) {
    if (node.state != engine::NodeState::kAlive) continue;
    for (const engine::DeviceStatus& device : node.devices)
      if (device.job.empty() && !device.joining && !device.failed) devices.push_back(device.id);
  }
  return devices;
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
  for (int rank = 0; rank < layout->mesh().num_ranks(); ++rank)
    if (const std::int64_t bytes = needs.OfLayout(rank); bytes > needed) {
      needed = bytes;
      fullest = rank;
    }
  const engine::Holding holding = engine::HoldingOf(*layout, fullest);
  const std::int64_t elementBytes = settings.precision == engine::Precision::kBf16 ? 2 : 4;
  StartMemory memory{.parameters = holding.parameter_bytes,
                     .optimizer = holding.optimizer_bytes,
                     .gradients = holding.parameter_bytes / elementBytes * kGradientBytes,
                     .capacity = candidate.capacity};
  memory.other =
      std::max<std::int64_t>(0, needed - memory.parameters - memory.optimizer - memory.gradients);
  return memory;
}

}  // namespace tessera::ui
