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
  for (const ptc::Axis axis :
       {ptc::Axis::kDp, ptc::Axis::kTp, ptc::Axis::kPp, ptc::Axis::kEp, ptc::Axis::kCp})
    if (mesh[axis] > 1) {
      const std::string_view name = ptc::ToString(axis);
      degrees << QString::fromUtf8(name.data(), std::ssize(name)) + QLatin1Char('=') +
                     QString::number(mesh[axis]);
    }
  return degrees.isEmpty() ? QStringLiteral("dp=1") : degrees.join(QLatin1Char(','));
}

}  // namespace

QString usualName(const StartRequest& request) {
  if (const auto* const model = std::get_if<StartRequest::BuiltIn>(&request.program))
    return model->model;
  const auto& script = std::get<StartRequest::Script>(request.program);
  return QFileInfo(script.path).completeBaseName().replace(u'_', u'-');
}

QStringList startWords(const StartRequest& request) {
  QStringList words;
  const auto add = [&words](const QString& option, const QString& value) {
    words << QStringLiteral("--") + option << value;
  };
  const auto* const script = std::get_if<StartRequest::Script>(&request.program);
  words << (script == nullptr ? std::get<StartRequest::BuiltIn>(request.program).model
                              : script->path);
  if (request.name != usualName(request)) add(QStringLiteral("name"), request.name);
  if (script != nullptr && !script->python.isEmpty()) add(QStringLiteral("python"), script->python);
  if (script != nullptr && !script->directory.isEmpty())
    add(QStringLiteral("directory"), script->directory);
  if (!request.devices.empty()) add(QStringLiteral("devices"), deviceArgument(request.devices));
  if (request.mesh) {
    add(QStringLiteral("mesh"), meshArgument(*request.mesh));
    if (request.options.zero) add(QStringLiteral("zero"), QStringLiteral("on"));
    if (request.options.micro_batch > 0)
      add(QStringLiteral("micro-batch"), QString::number(request.options.micro_batch));
  }
  for (const QString& path : request.data) add(QStringLiteral("data"), path);
  for (const auto& [option, value] : request.values) add(option, value);
  for (const auto& [key, value] : request.settings)
    add(QStringLiteral("set"), key + QLatin1Char('=') + value);
  if (script != nullptr && !script->arguments.isEmpty())
    words << QStringLiteral("--") << script->arguments;
  return words;
}

QString startCommand(const QString& cluster, const StartRequest& request) {
  return commandLine(
      cluster, QStringList{QStringLiteral("job"), QStringLiteral("start")} + startWords(request));
}

}  // namespace tessera::ui
