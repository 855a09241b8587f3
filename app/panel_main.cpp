// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// tessera: the control panel. Options are read before Qt starts, so that --help needs no display.

#include <fmt/format.h>
#include <unistd.h>

#include <QApplication>
#include <QDir>
#include <QEventLoop>
#include <QPushButton>
#include <QScreen>
#include <QTimer>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "agents/sim/hardware.h"
#include "app/bridge.h"
#include "app/commands/help.h"
#include "app/commands/json.h"
#include "app/commands/local_cluster.h"
#include "app/commands/options.h"
#include "app/commands/panel_syntax.h"
#include "app/commands/simulated_size.h"
#include "app/connections.h"
#include "app/demo_player.h"
#include "app/end_signals.h"
#include "app/film.h"
#include "app/lesson_runner.h"
#include "app/simulation.h"
#include "app/version.h"
#include "engine/files/process_stat.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/event_gaps.h"
#include "ui/language.h"
#include "ui/lessons/lesson_session.h"
#include "ui/main_window.h"
#include "ui/models/cluster_model.h"
#include "ui/plots/job_plots.h"
#include "ui/settings/layout_keeper.h"
#include "ui/settings/settings.h"
#include "ui/theme.h"

namespace tessera::app {
namespace {

constexpr int kScreenshotPatienceMs = 10'000;
constexpr int kSimulationPatienceMs = 60'000;        // thousands of ranks start
constexpr int kSettleMs = 400;                       // from the first snapshot to a drawn window
constexpr std::chrono::milliseconds kFarewell{300};  // for what a closing panel sends
constexpr int kRestart = 1000;  // exit code of the event loop that requests a restart

bool g_trace = false;
bool g_scaled = false;  // QT_SCALE_FACTOR was set from the settings

/// Milliseconds since the kernel started this process.
double sinceExec() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const auto stat = engine::ReadProcessStat(getpid());
  const double begun =
      stat ? static_cast<double>(stat->start) / static_cast<double>(sysconf(_SC_CLK_TCK)) : 0;
  return (static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9 - begun) * 1e3;
}

void trace(const char* what) {
  if (g_trace) fmt::print(stderr, "{:7.0f} ms  {}\n", sinceExec(), what);
}

struct PanelOptions {
  std::string profile;
  QString history;
  ui::WindowOptions window;
  std::optional<ui::ThemeMode> theme;  // nullopt: as in the settings
  std::optional<QSize> size;           // nullopt: the last size
  bool startupTrace = false;
  std::optional<std::chrono::milliseconds> logGaps;  // nullopt: not
  std::optional<WantedSimulation> simulation;
  bool keepsSimulation = false;
  QString view;        // empty: the mesh
  QString lesson;      // a name or a file; empty: none
  int lessonStep = 0;  // counted from 0
  QString screenshot;
  bool quit = false;
  bool printGeometry = false;
  QStringList script;
  QString screenshots;
  int frameMs = 0;  // 0: no frames
};

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
  options.history = QString::fromStdString(arguments.valueOr("history", ""));
  options.startupTrace = arguments.has("startup-trace");
  if (arguments.has("log-gaps")) {
    TESSERA_TRY(const std::int64_t limit, arguments.integer("log-gaps", 0, 20, 60'000));
    options.logGaps = std::chrono::milliseconds(limit);
  }
  options.window.readonly = arguments.has("readonly");
  options.window.operate = arguments.has("operate");
  options.window.live = arguments.has("live");
  options.quit = arguments.has("quit");
  options.printGeometry = arguments.has("print-geometry");
  options.screenshot = QString::fromStdString(arguments.valueOr("screenshot", ""));
  options.screenshots = QString::fromStdString(arguments.valueOr("screenshots", "."));
  options.view = QString::fromStdString(arguments.valueOr("view", ""));
  options.lesson = QString::fromStdString(arguments.valueOr("lesson", ""));
  TESSERA_TRY(const std::int64_t shown, arguments.integer("step", 1, 1, 1000));
  options.lessonStep = static_cast<int>(shown) - 1;
  if (arguments.has("step") && options.lesson.isEmpty())
    return InvalidArgument("--step needs --lesson");
  if (const auto text = arguments.value("size")) {
    TESSERA_TRY(const QSize size, parseSize(*text));
    options.size = size;
  }
  if (const auto text = arguments.value("theme"))
    options.theme = *text == "light" ? ui::ThemeMode::Light : ui::ThemeMode::Dark;
  if (const auto text = arguments.value("play")) {
    options.script = QString::fromStdString(*text).split(QLatin1Char(','));
    for (const QString& step : options.script)
      if (!DemoPlayer::knownSteps().contains(step))
        return InvalidArgument(fmt::format("--play '{}': there is no step '{}', only {}", *text,
                                           step.toStdString(),
                                           DemoPlayer::knownSteps().join(u',').toStdString()));
    options.window.operate = options.window.live = true;
  }
  if (arguments.has("frames")) {
    if (options.script.isEmpty()) return InvalidArgument("--frames needs --play");
    TESSERA_TRY(const std::int64_t milliseconds, arguments.integer("frames", 0, 20, 10'000));
    options.frameMs = static_cast<int>(milliseconds);
  }
  if (options.window.readonly && options.window.operate)
    return InvalidArgument("--readonly excludes --operate, --live and --play");
  if (options.window.live && !options.window.operate)
    return InvalidArgument("--live needs --operate");
  if (!options.history.isEmpty() && !options.profile.empty())
    return InvalidArgument("--history excludes --connect");
  if (const auto text = arguments.value("simulate")) {
    if (!options.profile.empty() || !options.history.isEmpty())
      return InvalidArgument("--simulate excludes --connect and --history");
    TESSERA_TRY(const SimulatedSize size, parseSimulatedSize(*text).Context("--simulate"));
    options.simulation = {size.nodes, size.devices, arguments.valueOr("hardware", "")};
    if (!options.simulation->hardware.empty()) {
      TESSERA_TRY(const auto known, agents::sim::FindHardware(options.simulation->hardware));
      static_cast<void>(known);
    }
    options.keepsSimulation = arguments.has("keep");
  } else {
    for (const char* option : {"hardware", "keep"})
      if (arguments.has(option))
        return InvalidArgument(fmt::format("--{} is of use only with --simulate", option));
  }
  if (options.quit && options.screenshot.isEmpty())
    return InvalidArgument("--quit needs --screenshot");
  return options;
}

/// A local cluster that ends with this object.
class EndsWithPanel {
 public:
  explicit EndsWithPanel(std::string cluster) : m_cluster(std::move(cluster)) {}
  EndsWithPanel(const EndsWithPanel&) = delete;
  EndsWithPanel& operator=(const EndsWithPanel&) = delete;
  ~EndsWithPanel() { static_cast<void>(stopLocalCluster(m_cluster)); }

 private:
  const std::string m_cluster;
};

/// Shows a history file and returns when it is read: a panel that cannot read its file shows none.
Status readHistory(AppConnections& connections, const QString& file) {
  QEventLoop loop;
  Status opened;
  connections.openHistory(file, [&](Status read) {
    opened = std::move(read);
    loop.quit();
  });
  loop.exec();
  return opened;
}

/// Saves a picture of the window when the first snapshot is drawn, at the latest after 10 s.
/// Without a cluster it does so at once.
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
  patience->start(options.simulation ? kSimulationPatienceMs
                  : hasCluster       ? kScreenshotPatienceMs
                                     : kSettleMs);
  // A simulated cluster begins with a job.
  const auto isReady = [&model, wantsJob = options.simulation.has_value()] {
    return model.hasSnapshot() &&
           (!wantsJob || (model.job() != nullptr && model.job()->loss.has_value()));
  };
  QObject::connect(&model, &ui::ClusterModel::changed, patience, [isReady, &model, patience] {
    if (isReady() && patience->remainingTime() > kSettleMs) {
      QObject::disconnect(&model, nullptr, patience, nullptr);
      patience->start(kSettleMs);
    }
  });
}

ui::ThemeMode themeOf(const ui::Settings& settings) {
  const QString name = settings.text(ui::Setting::Theme);
  if (name == QLatin1String("light")) return ui::ThemeMode::Light;
  return name == QLatin1String("dark") ? ui::ThemeMode::Dark : ui::ThemeMode::System;
}

/// Prints on stderr when the first live snapshot is on the screen.
void traceFirstMesh(ui::MainWindow& window, ui::ClusterModel& model) {
  class FirstPaint : public QObject {
   public:
    FirstPaint(QObject* parent, ui::ClusterModel& model) : QObject(parent), m_model(model) {}
    bool eventFilter(QObject*, QEvent* event) override {
      if (event->type() == QEvent::Paint && m_model.hasSnapshot() && !m_done) {
        m_done = true;
        QTimer::singleShot(0, this, [] { trace("first live mesh painted"); });
      }
      return false;
    }

   private:
    ui::ClusterModel& m_model;
    bool m_done = false;
  };
  window.meshView()->viewport()->installEventFilter(new FirstPaint(&window, model));
}

Json onScreen(const QWidget& widget, QRect rect) {
  const QPoint corner = widget.mapToGlobal(rect.topLeft());
  return {corner.x(), corner.y(), rect.width(), rect.height()};
}

/// The buttons with a text that can be pressed now, by their text.
Json buttonsOf(const QWidget& window) {
  Json buttons = Json::object();
  for (const QPushButton* each : window.findChildren<QPushButton*>())
    if (each->isVisible() && each->isEnabled() && !each->text().isEmpty())
      buttons[each->text().toStdString()] = onScreen(*each, each->rect());
  return buttons;
}

/// Prints the screen rectangles of cells, drop zones, plots and buttons, and what else scenarios
/// wait for, whenever they change.
void printGeometry(ui::MainWindow& window) {
  auto* timer = new QTimer(&window);
  QObject::connect(timer, &QTimer::timeout, &window, [&window, last = std::string()]() mutable {
    const ui::MeshView* view = window.meshView();
    const auto inMesh = [view](QRect rect) { return onScreen(*view->viewport(), rect); };
    const QWidget* dialog = QApplication::activeModalWidget();
    const auto* plots = window.findChild<ui::JobPlots*>();
    Json cells = Json::object();
    for (const auto& node : view->scene().nodes)
      for (const auto& cell : node.cells)
        if (const QRect rect = view->cellRect(cell.id); !rect.isNull())
          cells[ptc::ToString(cell.id)] = inMesh(rect);
    const Json geometry = {{"cells", std::move(cells)},
                           {"drop_zone", inMesh(view->dropZoneRect())},
                           {"pool", inMesh(view->poolRect())},
                           {"plots", onScreen(*plots, plots->rect())},
                           {"buttons", buttonsOf(dialog != nullptr ? *dialog : window)},
                           {"counting_down", window.isCountingDown()},
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

  g_trace = options->startupTrace;
  trace("main");
  const QString home = QString::fromStdString(agents::TesseraHome());
  const QString settingsFile = home + QStringLiteral("/panel.ini");
  // Qt reads its scale factor once, before the first window.
  const int scale = ui::Settings::peek(settingsFile, ui::Setting::Scale).toInt();
  if (scale != 100 && !qEnvironmentVariableIsSet("QT_SCALE_FACTOR")) {
    qputenv("QT_SCALE_FACTOR", QByteArray::number(scale / 100.0));
    g_scaled = true;
  }
  QApplication application(argc, argv);
  QCoreApplication::setApplicationName(QStringLiteral("tessera"));
  QGuiApplication::setDesktopFileName(QStringLiteral("org.tessera.Tessera"));
  QCoreApplication::setOrganizationName(QStringLiteral("tessera"));
  trace("Qt is up");
  const ui::Language language(
      ui::localeOf(ui::Settings::peek(settingsFile, ui::Setting::Language).toString()));
  ui::Settings settings(settingsFile);
  ui::applyTheme(application, options->theme.value_or(themeOf(settings)));
  ui::ClusterModel model;
  Bridge bridge(model);
  const auto mirror = [&settings, &bridge] {
    engine::Retention retention;
    retention.max_bytes = std::int64_t{settings.number(ui::Setting::MirrorSize)} << 20;
    bridge.setMirror(settings.flag(ui::Setting::Mirror), retention);
  };
  mirror();
  QObject::connect(&settings, &ui::Settings::changed, &bridge, [mirror](ui::Setting changed) {
    if (changed == ui::Setting::Mirror || changed == ui::Setting::MirrorSize) mirror();
  });
  AppConnections connections(model, bridge);
  // A scenario without a cluster of its own has nothing to end.
  std::optional<EndSignals> endSignals;
  if (options->script.isEmpty() || options->simulation) endSignals.emplace();
  std::optional<EndsWithPanel> simulated;
  std::string profile = options->profile;
  if (options->simulation) {
    const auto started = startSimulation(*options->simulation);
    if (!started) return wrong(started.error(), 1);
    if (!options->keepsSimulation) simulated.emplace(started->name);
    profile = started->name;
    trace("the simulated cluster runs");
  }
  // A profile or file that was given must exist. Without one the window shows what to do.
  const auto opened = options->history.isEmpty() ? connections.open(profile)
                                                 : readHistory(connections, options->history);
  if (!opened && (!options->profile.empty() || !options->history.isEmpty()))
    return wrong(opened.error(), 1);
  trace("connecting");
  ui::WindowOptions windowOptions = options->window;
  windowOptions.settings = &settings;
  windowOptions.connections = &connections;
  windowOptions.endsCluster = simulated.has_value();
  LessonRunner lesson;
  windowOptions.experiment = &lesson;
  windowOptions.places = {home, home + QStringLiteral("/mirror")};
  windowOptions.version = QString::fromLatin1(kVersion);
  // Pictures and scenarios look the same on every machine and do not change the settings.
  windowOptions.keepLayout = options->screenshot.isEmpty() && options->script.isEmpty();
  ui::MainWindow window(model, connections, windowOptions);
  if (options->size) {
    window.setWindowState(window.windowState() & ~Qt::WindowMaximized);
    window.resize(*options->size);
  } else if (!window.isPlaced()) {
    // Pictures have the same size on every machine.
    window.resize(windowOptions.keepLayout ? ui::usualSize(window.screen()->availableSize(),
                                                           window.minimumSize())
                                           : QSize(1440, 900));
  }
  if (endSignals) {
    QObject::connect(&*endSignals, &EndSignals::came, &window, [&window](int number) {
      window.close();  // which saves its layout
      QCoreApplication::exit(128 + number);
    });
  }
  QObject::connect(&window, &ui::MainWindow::restartRequested, &application,
                   [] { QCoreApplication::exit(kRestart); });
  if (!options->view.isEmpty()) {
    window.actions()->find(QStringLiteral("view.") + options->view)->trigger();
  }
  if (!options->lesson.isEmpty()) {
    const auto taught = window.lessons().open(options->lesson, options->lessonStep);
    if (!taught) return wrong(taught.error(), taught.error().code == ErrorCode::kNotFound ? 1 : 2);
    window.actions()->find(QStringLiteral("view.lesson"))->trigger();
  }
  trace("window is built");
  window.show();
  trace("window is shown");
  if (g_trace) traceFirstMesh(window, model);
  if (!options->screenshot.isEmpty()) shootWhenDrawn(window, model, *options, opened.has_value());
  if (options->printGeometry) printGeometry(window);
  if (!options->script.isEmpty()) {
    const QDir folder(options->screenshots);
    if (!folder.mkpath(options->frameMs > 0 ? QStringLiteral("frames") : QStringLiteral(".")))
      return wrong(Unavailable(fmt::format("cannot make {}", options->screenshots.toStdString())),
                   1);
    QTimer::singleShot(0, &window, [&, folder] {
      std::optional<Film> film;
      if (options->frameMs > 0) film.emplace(window, options->frameMs);
      DemoPlayer player(window, model, bridge, folder);
      bool right = player.play(options->script);
      if (film && !film->write(QDir(folder.filePath(QStringLiteral("frames"))))) {
        fmt::print(stderr, "tessera: cannot write {}/frames\n", folder.path().toStdString());
        right = false;
      }
      QCoreApplication::exit(right ? 0 : 1);
    });
  }
  std::optional<ui::EventGaps> gaps;
  if (options->logGaps) {
    // What happens before the first event is the start, which --startup-trace shows.
    QTimer::singleShot(0, &window, [&] {
      gaps.emplace(*options->logGaps, [](std::chrono::milliseconds gap) {
        fmt::print(stderr, "tessera: {:.1f} s after its start the window did not react for {} ms\n",
                   sinceExec() / 1e3, gap.count());
      });
    });
  }
  const int code = QApplication::exec();
  bridge.waitForAnswers(kFarewell);
  return code;
}

/// As `run`. A panel that requests a restart replaces its process by a new one.
int runAgainWhereWanted(int argc, char** argv) {
  const int code = run(argc, argv);
  if (code != kRestart) return code;
  if (g_scaled) qunsetenv("QT_SCALE_FACTOR");
  ::execv("/proc/self/exe", argv);
  fmt::print(stderr, "tessera: the panel cannot start again: {}\n", std::strerror(errno));
  return 1;
}

}  // namespace
}  // namespace tessera::app

int main(int argc, char** argv) { return tessera::app::runAgainWhereWanted(argc, argv); }
