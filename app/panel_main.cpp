// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// tessera: the control panel. Options are read before Qt starts, so that --help needs no display.

#include <fmt/format.h>

#include <QApplication>
#include <QDir>
#include <QTimer>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "app/bridge.h"
#include "app/commands/json.h"
#include "app/commands/options.h"
#include "app/demo_player.h"
#include "app/version.h"
#include "ui/canvas/mesh_view.h"
#include "ui/main_window.h"
#include "ui/models/cluster_model.h"
#include "ui/theme.h"

namespace tessera::app {
namespace {

constexpr int kScreenshotPatienceMs = 10'000;
constexpr int kSettleMs = 400;  // from the first snapshot to a drawn window

struct PanelOptions {
  std::string profile;
  ui::WindowOptions window;
  ui::ThemeMode theme = ui::ThemeMode::System;
  QSize size{1440, 900};
  QString screenshot;
  bool quit = false;
  bool printGeometry = false;
  QStringList script;
  QString screenshots;
};

const Syntax& panelSyntax() {
  static const Syntax syntax{
      "tessera",
      "the control panel: shows a cluster and moves jobs between its GPUs",
      {},
      {{"connect", "PROFILE", "name or file of a profile (default: the only one, else `local`)"},
       {"readonly", "", "Monitor for good: nothing can be changed"},
       {"operate", "", "starts armed (default: Monitor)"},
       {"live", "", "starts in live mode: a drop applies after 3 s; needs --operate"},
       {"theme", "light|dark", "default: the desktop's"},
       {"size", "WxH", "of the window, logical pixels (default 1440x900)"},
       {"screenshot", "FILE", "saves a PNG once the first live snapshot is drawn (10 s at most)"},
       {"quit", "", "ends after the screenshot"},
       {"play", "STEPS",
        "plays a scenario without a user: grow,shrink,lose; implies --operate --live"},
       {"screenshots", "DIR", "where --play leaves screenshots and its report (default: here)"},
       {"print-geometry", "", "prints where cells stand on the screen, one JSON object a change"},
       {"help", "", "print this help"},
       {"version", "", "print the version"}},
      {},
      false};
  return syntax;
}

Result<QSize> parseSize(const std::string& text) {
  const auto x = text.find('x');
  int width = 0, height = 0;
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (x != std::string::npos) {
    const char* cross = begin + x;
    const auto first = std::from_chars(begin, cross, width);
    const auto second = std::from_chars(cross + 1, end, height);
    if (first.ec == std::errc() && first.ptr == cross && second.ec == std::errc() &&
        second.ptr == end && width >= 640 && height >= 400 && width <= 16384 && height <= 16384)
      return QSize(width, height);
  }
  return InvalidArgument(
      fmt::format("--size '{}' is not a size such as 1440x900 from 640x400 to 16384x16384", text));
}

Result<PanelOptions> readOptions(const Arguments& arguments) {
  PanelOptions options;
  options.profile = arguments.valueOr("connect", "");
  options.window.readonly = arguments.has("readonly");
  options.window.operate = arguments.has("operate");
  options.window.live = arguments.has("live");
  options.quit = arguments.has("quit");
  options.printGeometry = arguments.has("print-geometry");
  options.screenshot = QString::fromStdString(arguments.valueOr("screenshot", ""));
  options.screenshots = QString::fromStdString(arguments.valueOr("screenshots", "."));
  if (const auto text = arguments.value("size")) {
    TESSERA_TRY(options.size, parseSize(*text));
  }
  if (const auto text = arguments.value("theme")) {
    if (*text != "light" && *text != "dark")
      return InvalidArgument(fmt::format("--theme '{}' is neither light nor dark", *text));
    options.theme = *text == "light" ? ui::ThemeMode::Light : ui::ThemeMode::Dark;
  }
  if (const auto text = arguments.value("play")) {
    options.script = QString::fromStdString(*text).split(QLatin1Char(','));
    for (const QString& step : options.script)
      if (!DemoPlayer::knownSteps().contains(step))
        return InvalidArgument(fmt::format("--play '{}': there is no step '{}', only {}", *text,
                                           step.toStdString(),
                                           DemoPlayer::knownSteps().join(u',').toStdString()));
    options.window.operate = options.window.live = true;
  }
  if (options.window.readonly && options.window.operate)
    return InvalidArgument("--readonly excludes --operate, --live and --play");
  if (options.window.live && !options.window.operate)
    return InvalidArgument("--live needs --operate");
  if (options.quit && options.screenshot.isEmpty())
    return InvalidArgument("--quit needs --screenshot");
  return options;
}

/// Saves the window once its first snapshot is drawn, or what there is after 10 s; without a
/// cluster to wait for, at once.
void shootWhenDrawn(ui::MainWindow& window, ui::ClusterModel& model, const PanelOptions& options,
                    bool hasCluster) {
  const auto shoot = [&window, &options] {
    const bool written = window.grabTo(options.screenshot);
    if (!written)
      fmt::print(stderr, "tessera: cannot write {}\n", options.screenshot.toStdString());
    if (options.quit) QCoreApplication::exit(written ? 0 : 1);
  };
  auto* patience = new QTimer(&window);
  patience->setSingleShot(true);
  QObject::connect(patience, &QTimer::timeout, &window, shoot);
  patience->start(hasCluster ? kScreenshotPatienceMs : kSettleMs);
  QObject::connect(&model, &ui::ClusterModel::changed, patience, [&model, patience] {
    if (model.hasSnapshot() && patience->remainingTime() > kSettleMs) {
      QObject::disconnect(&model, nullptr, patience, nullptr);
      patience->start(kSettleMs);
    }
  });
}

/// Prints the screen rectangles of cells and drop zones whenever they change.
void printGeometry(ui::MainWindow& window) {
  auto* timer = new QTimer(&window);
  QObject::connect(timer, &QTimer::timeout, &window, [&window, last = std::string()]() mutable {
    const ui::MeshView* view = window.meshView();
    const auto onScreen = [view](QRect rect) {
      const QPoint corner = view->viewport()->mapToGlobal(rect.topLeft());
      return Json{corner.x(), corner.y(), rect.width(), rect.height()};
    };
    Json cells = Json::object();
    for (const auto& node : view->scene().nodes)
      for (const auto& cell : node.cells)
        if (const QRect rect = view->cellRect(cell.id); !rect.isNull())
          cells[ptc::ToString(cell.id)] = onScreen(rect);
    const Json geometry = {{"cells", std::move(cells)},
                           {"drop_zone", onScreen(view->dropZoneRect())},
                           {"pool", onScreen(view->poolRect())},
                           {"active", window.isActiveWindow()}};
    if (std::string text = geometry.dump(); text != last) {
      last = std::move(text);
      printLine(geometry);
    }
  });
  timer->start(200);
}

int run(int argc, char** argv) {
  const auto arguments =
      parseArguments(panelSyntax(), std::vector<std::string>(argv + 1, argv + argc));
  const auto wrong = [](const Error& error, int code) {
    fmt::print(stderr, "tessera: {}\n", error.ToString());
    return code;
  };
  if (!arguments) return wrong(arguments.error(), 2);
  if (arguments->has("help")) {
    fmt::print("{}", helpOf("", panelSyntax()));
    return 0;
  }
  if (arguments->has("version")) {
    fmt::print("tessera {}\n", kVersion);
    return 0;
  }
  const auto options = readOptions(*arguments);
  if (!options) return wrong(options.error(), 2);
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY") && !std::getenv("QT_QPA_PLATFORM"))
    return wrong(Unavailable("no display: neither DISPLAY nor WAYLAND_DISPLAY is set "
                             "(QT_QPA_PLATFORM=offscreen draws without one)"),
                 1);

  QApplication application(argc, argv);
  QCoreApplication::setApplicationName(QStringLiteral("tessera"));
  QCoreApplication::setOrganizationName(QStringLiteral("tessera"));
  ui::applyTheme(application, options->theme);
  ui::ClusterModel model;
  Bridge bridge(model);
  // A profile that was asked for must be there; without one the window says what to do.
  const auto opened = bridge.open(options->profile);
  if (!opened && !options->profile.empty()) return wrong(opened.error(), 1);
  ui::MainWindow window(model, bridge, options->window);
  window.resize(options->size);
  window.show();
  if (!options->screenshot.isEmpty()) shootWhenDrawn(window, model, *options, opened.has_value());
  if (options->printGeometry) printGeometry(window);
  if (!options->script.isEmpty()) {
    QDir folder(options->screenshots);
    if (!folder.mkpath(QStringLiteral(".")))
      return wrong(Unavailable(fmt::format("cannot make {}", options->screenshots.toStdString())),
                   1);
    QTimer::singleShot(0, &window, [&, folder] {
      DemoPlayer player(window, model, bridge, folder);
      QCoreApplication::exit(player.play(options->script) ? 0 : 1);
    });
  }
  return QApplication::exec();
}

}  // namespace
}  // namespace tessera::app

int main(int argc, char** argv) { return tessera::app::run(argc, argv); }
