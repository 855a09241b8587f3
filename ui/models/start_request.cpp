// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/start_request.h"

#include <QFileInfo>
#include <utility>

#include "ui/models/device_names.h"
#include "ui/models/shell_words.h"

namespace tessera::ui {
namespace {

/// "dp=2,pp=4": the axes that divide anything.
QString meshArgument(const ptc::MeshShape& mesh) {
  QStringList degrees;
  for (const ptc::Axis axis : ptc::kAxesInText)
    if (mesh[axis] > 1) {
      const std::string_view name = ptc::ToString(axis);
      degrees << QString::fromUtf8(name.data(), std::ssize(name)) + QLatin1Char('=') +
                     QString::number(mesh[axis]);
    }
  return degrees.isEmpty() ? QStringLiteral("dp=1") : degrees.join(QLatin1Char(','));
}

/// The program with its arguments; null for what is none.
const StartRequest::Script* scriptOf(const StartRequest& request) {
  if (const auto* const script = std::get_if<StartRequest::Script>(&request.program)) return script;
  const auto* const files = std::get_if<StartRequest::Files>(&request.program);
  return files == nullptr ? nullptr : &files->program;
}

void addOption(QStringList& words, const char* option, const QString& value) {
  words << QStringLiteral("--") + QLatin1String(option) << value;
}

/// MODEL or SCRIPT, if there is one, and the options of a program.
QStringList programWords(const StartRequest& request) {
  QStringList words;
  if (const auto* const model = std::get_if<StartRequest::BuiltIn>(&request.program))
    words << model->model;
  if (const StartRequest::Script* const script = scriptOf(request)) {
    words << script->path;
    if (!script->python.isEmpty()) addOption(words, "python", script->python);
    if (!script->directory.isEmpty()) addOption(words, "directory", script->directory);
    for (const QString& variable : script->environment) addOption(words, "env", variable);
  }
  const auto addFiles = [&words](const auto& program) {
    addOption(words, "tensors", program.tensors);
    addOption(words, "rules", program.rules);
  };
  if (const auto* const files = std::get_if<StartRequest::Files>(&request.program)) {
    addOption(words, "kind", QStringLiteral("files"));
    addFiles(*files);
  }
  if (const auto* const exec = std::get_if<StartRequest::Exec>(&request.program)) {
    addOption(words, "exec", exec->command);
    if (exec->finishesUpdates) words << QStringLiteral("--finishes-updates");
    addFiles(*exec);
  }
  return words;
}

}  // namespace

QString usualName(const StartRequest& request) {
  if (const auto* const model = std::get_if<StartRequest::BuiltIn>(&request.program))
    return model->model;
  const StartRequest::Script* const script = scriptOf(request);
  if (script == nullptr) return {};
  return QFileInfo(script->path).completeBaseName().replace(u'_', u'-');
}

QStringList startWords(const StartRequest& request) {
  QStringList words = programWords(request);
  if (request.name != usualName(request)) addOption(words, "name", request.name);
  if (request.checkpoint) {
    addOption(words, "from-checkpoint", request.checkpoint->path);
    if (request.checkpoint->parametersOnly) words << QStringLiteral("--parameters-only");
  }
  if (!request.devices.empty()) addOption(words, "devices", deviceArgument(request.devices));
  if (request.mesh) {
    addOption(words, "mesh", meshArgument(*request.mesh));
    if (request.options.zero) addOption(words, "zero", QStringLiteral("on"));
    if (request.options.micro_batch > 0)
      addOption(words, "micro-batch", QString::number(request.options.micro_batch));
  }
  for (const QString& path : request.data) addOption(words, "data", path);
  for (const auto& [option, value] : request.values)
    words << QStringLiteral("--") + option << value;
  for (const auto& [key, value] : request.settings)
    addOption(words, "set", key + QLatin1Char('=') + value);
  const StartRequest::Script* const script = scriptOf(request);
  if (script != nullptr && !script->arguments.isEmpty())
    words << QStringLiteral("--") << script->arguments;
  return words;
}

QString startCommand(const QString& cluster, const StartRequest& request) {
  return commandLine(
      cluster, QStringList{QStringLiteral("job"), QStringLiteral("start")} + startWords(request));
}

}  // namespace tessera::ui
