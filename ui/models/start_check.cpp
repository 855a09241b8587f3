// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Reads what a user has entered to start a job, and checks it against the cluster.

#include <QFileInfo>
#include <QProcess>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "engine/data/formats/open_data.h"
#include "engine/data/is_url.h"
#include "ui/format.h"
#include "ui/models/start_form.h"
#include "ui/sentences.h"

namespace tessera::ui {
namespace {

using engine::JobSetting;

constexpr std::int64_t kLargestBatch = 1 << 20;

/// Reads a form into a check.
class StartReader {
 public:
  StartReader(const StartForm& form, const engine::ClusterSnapshot& cluster)
      : m_form(form), m_cluster(cluster) {}

  StartCheck read() {
    readProgram();
    readInteger(start_field::kSteps, 1, kLargestStartCount, &m_check.settings.max_steps);
    readName();
    readGpus();
    readPolicies();
    return std::move(m_check);
  }

 private:
  void fail(const QString& key, const QString& problem) {
    m_check.problems.emplace(key, problem);  // keeps the first one
  }

  void readProgram() {
    switch (m_form.program) {
      case StartForm::Program::BuiltIn:
        m_check.request.program = StartRequest::BuiltIn{m_form.model};
        m_check.settings = StartForm::settingsOf(m_form.model);
        readSettings();
        readData();
        readInteger(start_field::kBatch, 1, kLargestBatch, &m_check.settings.global_batch);
        return readInteger(start_field::kSeed, 0, kLargestStartCount, &m_check.settings.seed);
      case StartForm::Program::Script:
        m_check.request.program = readScript(true);
        return readCheckpoint();
      case StartForm::Program::Files: {
        StartRequest::Script program = readScript(false);
        m_check.request.program = StartRequest::Files{
            std::move(program), readFile(start_field::kTensors), readFile(start_field::kRules)};
        std::int64_t every = 0;
        readInteger(start_field::kSaveEvery, 1, kLargestStartCount, &every);
        return readCheckpoint();
      }
      case StartForm::Program::Exec:
        readCommand();
        return readCheckpoint();
      case StartForm::Program::Stored:
        m_check.request.program = StartRequest::Stored{};
        readCheckpoint();
        readOtherSettings();
        readData();
        m_check.settings.global_batch = 0;  // that of the checkpoint
        return readInteger(start_field::kBatch, 1, kLargestBatch, &m_check.settings.global_batch);
    }
  }

  bool isStored() const { return m_form.program == StartForm::Program::Stored; }

  void readName() {
    static const QRegularExpression form(QStringLiteral("^[a-z0-9][a-z0-9-]{0,62}$"));
    const QString given = m_form.value(start_field::kName);
    const QString usual = isStored() ? m_form.storedJob : usualName(m_check.request);
    const QString name =
        given.isEmpty() && !usual.isEmpty() ? StartForm::freeName(usual, m_cluster) : given;
    m_check.request.name = name;
    if (name.isEmpty()) {  // the program is not chosen yet, or the checkpoint has the name
      if (m_form.program == StartForm::Program::Exec)
        fail(start_field::kName, StartForm::tr("Give the job a name."));
      return;
    }
    if (!form.match(name).hasMatch()) {
      fail(start_field::kName,
           StartForm::tr("Use lower-case letters, digits and dashes, at most 63."));
    } else if (std::ranges::find(m_cluster.jobs, name.toStdString(), &engine::JobStatus::name) !=
               m_cluster.jobs.end()) {
      fail(start_field::kName, StartForm::tr("There is a job %1 already.").arg(name));
    }
  }

  // lupdate takes a qualified type of a result for the class of the texts.
  using Script = StartRequest::Script;

  /// \param usesPackage it is a program in Python that uses the package tessera
  Script readScript(bool usesPackage) {
    StartRequest::Script script{m_form.value(start_field::kScript),
                                QProcess::splitCommand(m_form.value(start_field::kArguments)),
                                m_form.value(start_field::kPython),
                                m_form.value(start_field::kDirectory)};
    if (script.path.isEmpty()) {
      fail(start_field::kScript,
           usesPackage ? StartForm::tr("Choose a program in Python, such as train.py.")
                       : StartForm::tr("Choose a program, such as train.sh."));
    } else if (usesPackage && !script.path.endsWith(QLatin1String(".py"))) {
      fail(start_field::kScript, StartForm::tr("A program in Python ends in .py."));
    } else {
      checkFile(start_field::kScript, script.path);
    }
    const QFileInfo folder(script.directory);
    if (!script.directory.isEmpty() && !(folder.isAbsolute() && folder.isDir()))
      fail(start_field::kDirectory, StartForm::tr("This is not the full path of a folder."));
    for (const QString& part : partsOf(start_field::kEnvironment)) {
      if (part.indexOf(u'=') < 1)
        fail(start_field::kEnvironment,
             StartForm::tr("%1 is not of the form NAME=VALUE.").arg(part));
      script.environment << part;
    }
    return script;
  }

  void readCommand() {
    StartRequest::Exec exec{m_form.value(start_field::kCommand), readFile(start_field::kTensors),
                            readFile(start_field::kRules),
                            m_form.value(start_field::kFinishes) == u"yes"};
    if (exec.command.isEmpty())
      fail(start_field::kCommand, StartForm::tr("Enter a command, such as /opt/my-job."));
    m_check.request.program = std::move(exec);
  }

  QString readFile(const QString& key) {
    const QString path = m_form.value(key);
    if (path.isEmpty())
      fail(key, StartForm::tr("Choose the file."));
    else
      checkFile(key, path);
    return path;
  }

  void checkFile(const QString& key, const QString& path) {
    if (QFileInfo(path).isRelative())
      fail(key, StartForm::tr("Enter the full path, starting with /."));
    else if (!QFileInfo(path).isFile())
      fail(key, StartForm::tr("This file does not exist."));
  }

  void readCheckpoint() {
    const QString path = m_form.value(start_field::kCheckpoint);
    if (path.isEmpty()) {
      if (isStored()) fail(start_field::kCheckpoint, StartForm::tr("Choose a checkpoint."));
      return;
    }
    if (m_cluster.simulation)
      fail(start_field::kCheckpoint,
           StartForm::tr("The state of jobs in a simulated cluster has no bytes to load."));
    else if (!path.startsWith(u'/') && !engine::IsUrl(path.toStdString()))
      fail(start_field::kCheckpoint, StartForm::tr("Enter the full path, starting with /."));
    m_check.request.checkpoint =
        StartRequest::Checkpoint{path, m_form.value(start_field::kTakes) == u"parameters"};
  }

  /// KEY=VALUE; …, in place of those of the checkpoint. Whether they suit its model, only the
  /// cluster can say.
  void readOtherSettings() {
    const std::vector<JobSetting> known = engine::SettingsOf(engine::JobSettings());
    for (const QString& part : partsOf(start_field::kSettings)) {
      const QString key = part.section(u'=', 0, 0).trimmed();
      const QString value = part.section(u'=', 1).trimmed();
      const auto setting = std::ranges::find(known, key.toStdString(), &JobSetting::name);
      if (value.isEmpty() || setting == known.end()) {
        fail(start_field::kSettings,
             value.isEmpty() ? StartForm::tr("%1 is not of the form KEY=VALUE.").arg(part)
                             : StartForm::tr("There is no setting %1.").arg(key));
        continue;
      }
      const StartField field = StartForm::fieldOf(*setting);
      bool isNumber = false;
      const double number = value.toDouble(&isNumber);
      const bool isIn = isNumber && number >= setting->least && number <= setting->most;
      if (field.choices.isEmpty() ? !isIn : !field.choices.contains(value))
        fail(start_field::kSettings,
             field.choices.isEmpty()
                 ? StartForm::tr("%1 is not a number from %2.").arg(part, field.limits)
                 : StartForm::tr("%1 is none of %2.").arg(part, field.choices.join(u", ")));
      m_check.request.settings[key] = value;
    }
  }

  /// The parts of a field that are separated by ;
  QStringList partsOf(const QString& key) const {
    QStringList parts;
    for (const QString& part : m_form.value(key).split(u';'))
      if (!part.trimmed().isEmpty()) parts << part.trimmed();
    return parts;
  }

  void readSettings() {
    for (const JobSetting& setting : engine::SettingsOf(m_check.settings)) {
      const QString key = QString::fromStdString(setting.name);
      const StartField field = StartForm::fieldOf(setting);
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
      if (setting.is_integer && number != std::floor(number)) {
        fail(key, StartForm::tr("%1 is not a whole number from %2.")
                      .arg(m_form.value(key), field.limits));
        continue;
      }
      const Status applied =
          engine::ApplySetting(m_check.settings, setting.name, text.toStdString());
      if (!applied) {
        fail(key, localized(applied.error().message));
        continue;
      }
      // The command line has options of their own for these two.
      const bool isOption = key == u"precision" || key == u"dropout";
      (isOption ? m_check.request.values : m_check.request.settings)[key] = text;
    }
  }

  void readData() {
    for (const QString& path : partsOf(start_field::kData)) {
      const auto weighted = engine::ParseWeightedPath(path.toStdString());
      if (!weighted) {
        fail(start_field::kData, localized(weighted.error().message));
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

}  // namespace tessera::ui
