// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What a user enters to start a job: the fields with their defaults and limits, and the request
/// that they make.

#include <QCoreApplication>
#include <QString>
#include <QStringList>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "engine/model/gpt.h"
#include "ui/models/start_request.h"

namespace tessera::ui {

/// The names of fields that are no settings of engine::ApplySetting. Those that `job start` has as
/// options are named as these.
namespace start_field {
inline constexpr QLatin1String kName("name");
inline constexpr QLatin1String kData("data");
inline constexpr QLatin1String kGpus("devices");
inline constexpr QLatin1String kBatch("global-batch");
inline constexpr QLatin1String kSteps("steps");
inline constexpr QLatin1String kSeed("seed");
inline constexpr QLatin1String kOnFailure("on-failure");
inline constexpr QLatin1String kSnapshots("snapshot-every");
inline constexpr QLatin1String kScript("script");
inline constexpr QLatin1String kPython("python");
inline constexpr QLatin1String kArguments("arguments");
inline constexpr QLatin1String kDirectory("directory");
inline constexpr QLatin1String kEnvironment("env");
inline constexpr QLatin1String kCommand("exec");
inline constexpr QLatin1String kTensors("tensors");
inline constexpr QLatin1String kRules("rules");
inline constexpr QLatin1String kSaveEvery("save-every");
inline constexpr QLatin1String kFinishes("finishes-updates");
inline constexpr QLatin1String kCheckpoint("from-checkpoint");
inline constexpr QLatin1String kTakes("parameters-only");
inline constexpr QLatin1String kSettings("set");
}  // namespace start_field

/// The largest number of steps, and seed.
inline constexpr std::int64_t kLargestStartCount = std::int64_t{1} << 40;

/// A field of a setting.
struct StartField {
  QString key;
  QString label;
  QString help;              // one sentence
  QString fallback;          // the default
  QString limits = {};       // "0 to 0.95"; empty with `choices`
  QStringList choices = {};  // the only values
};

class StartForm {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::StartForm)

 public:
  /// As the alternatives of StartRequest::program.
  enum class Program { BuiltIn, Script, Files, Exec, Stored };

  Program program = Program::BuiltIn;
  QString model = {};
  QString storedJob = {};                  // of the checkpoint; empty: unknown
  std::map<QString, QString> values = {};  // by field; a missing or empty one has its default

  QString value(const QString& key) const;
  /// All settings besides those of the main fields, with the defaults of the model. None for
  /// other programs, which bring their own.
  std::vector<StartField> moreFields() const;
  /// The field of one setting.
  /// \pre `key` is a setting
  StartField settingField(const QString& key) const;
  static StartField fieldOf(const engine::JobSetting& setting);
  /// The settings of a job with this model that is given nothing else.
  static engine::JobSettings settingsOf(const QString& model);
  /// The models that the cluster can train: the large ones only where it is simulated.
  static QStringList modelsOf(const engine::ClusterSnapshot& cluster);

  /// A name that no job has: `usual`, `usual`-2, …
  static QString freeName(const QString& usual, const engine::ClusterSnapshot& cluster);
  /// "3.3 M parameters · 4 layers · 37.4 MiB of state"
  static QString modelFacts(const QString& model);
};

/// A form, read.
struct StartCheck {
  StartRequest request;                      // without mesh
  engine::JobSettings settings = {};         // of a built-in model
  std::map<QString, QString> problems = {};  // by field, one sentence each
  std::vector<ptc::DeviceId> devices = {};   // that the job may use: the given ones, else all idle
  bool isGood() const { return problems.empty(); }
};
StartCheck checkStart(const StartForm& form, const engine::ClusterSnapshot& cluster);

/// The devices that a new job could use, in the order of the nodes.
std::vector<ptc::DeviceId> idleDevices(const engine::ClusterSnapshot& cluster);

/// What the fullest GPU holds, in bytes.
struct StartMemory {
  std::int64_t parameters = 0, optimizer = 0, gradients = 0;
  std::int64_t other = 0;  // tables and alignment
  std::int64_t capacity = 0;
  friend bool operator==(const StartMemory&, const StartMemory&) = default;
};
/// \return nullopt if the settings have no layout on the mesh
std::optional<StartMemory> startMemory(const engine::JobSettings& settings,
                                       const engine::Candidate& candidate);

}  // namespace tessera::ui
