// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/settings_dialog.h"

#include <QDesktopServices>
#include <QDirIterator>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QStackedWidget>
#include <QUrl>
#include <QVBoxLayout>
#include <functional>
#include <utility>

#include "ui/actions/action_registry.h"
#include "ui/dialogs/palette_preview.h"
#include "ui/dialogs/settings_page.h"
#include "ui/dialogs/shortcuts_page.h"
#include "ui/format.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/surface.h"

namespace tessera::ui {
namespace {

constexpr int kPageListWidth = 160;

qint64 sizeOf(const QString& folder) {
  qint64 bytes = 0;
  for (QDirIterator it(folder, QDir::Files, QDirIterator::Subdirectories); it.hasNext();) {
    it.next();
    bytes += it.fileInfo().size();
  }
  return bytes;
}

class GeneralPage : public SettingsPage {
 public:
  GeneralPage(Settings& settings, std::function<void()> restart, QWidget* parent)
      : SettingsPage(settings, SettingsDialog::tr("General"), parent) {
    // Each language by its own name, for those who cannot read the present one.
    addRow(
        SettingsDialog::tr("Language"),
        SettingsDialog::tr("Also the format of numbers and dates. Some of what clusters report is "
                           "in English."),
        makeChoice(Setting::Language, {SettingsDialog::tr("System"), QStringLiteral("English"),
                                       QStringLiteral("Deutsch")}));
    addRow(SettingsDialog::tr("Colours"), SettingsDialog::tr("System follows the desktop."),
           makeChoice(Setting::Theme, {SettingsDialog::tr("System"), SettingsDialog::tr("Light"),
                                       SettingsDialog::tr("Dark")}));
    addRow(SettingsDialog::tr("Reduce motion"),
           SettingsDialog::tr("Shows static arrows and percentages instead of moving dots."),
           makeSwitch(Setting::ReduceMotion));
    addRow(SettingsDialog::tr("Desktop notices"),
           SettingsDialog::tr("When a change ends or needs a decision while another window is "
                              "active."),
           makeSwitch(Setting::Notify));
    addRow(SettingsDialog::tr("Size"),
           SettingsDialog::tr("Scales the whole panel, for projectors and small screens."),
           makeChoice(Setting::Scale,
                      {QStringLiteral("100 %"), QStringLiteral("125 %"), QStringLiteral("150 %"),
                       QStringLiteral("200 %")},
                      {100, 125, 150, 200}));
    auto* pending = new QWidget(this);
    auto* row = new QHBoxLayout(pending);
    row->setContentsMargins(0, 0, 0, 0);
    auto* note = new QLabel(SettingsDialog::tr("Takes effect after a restart."), pending);
    setRole(note, QStringLiteral("accent"));
    auto* again = new QPushButton(SettingsDialog::tr("Restart the panel now"), pending);
    again->setAccessibleName(again->text());
    row->addWidget(note, 1);
    row->addWidget(again);
    addWidget(pending);
    const auto chosen = [&settings] {
      return std::pair(settings.number(Setting::Scale), settings.text(Setting::Language));
    };
    pending->hide();
    QObject::connect(&settings, &Settings::changed, pending, [chosen, pending, before = chosen()] {
      pending->setVisible(chosen() != before);
    });
    QObject::connect(again, &QPushButton::clicked, pending, std::move(restart));
    end();
  }
};

class ColoursPage : public SettingsPage {
 public:
  ColoursPage(Settings& settings, QWidget* parent)
      : SettingsPage(settings, SettingsDialog::tr("Colours"), parent) {
    addNote(SettingsDialog::tr(
        "Nine colours name the shards of a model; further shards repeat them with a pattern. Four "
        "more mark states, always together with a shape. The preview shows them for each kind of "
        "colour vision, with the difference between the two closest colours (a ΔE2000 of 2 is just "
        "visible)."));
    addWidget(new PalettePreview(this));
    addNote(
        SettingsDialog::tr("Shard colours: Paul Tol's scheme \"muted\". Simulation: Machado, "
                           "Oliveira, Fernandes 2009, severity 1."));
    end();
  }
};

class SafetyPage : public SettingsPage {
 public:
  SafetyPage(Settings& settings, QWidget* parent)
      : SettingsPage(settings, SettingsDialog::tr("Safety"), parent) {
    addRow(SettingsDialog::tr("Countdown in live mode"),
           SettingsDialog::tr("Time between a drop and the start of its change. Esc stops it."),
           makeNumber(Setting::Countdown, SettingsDialog::tr("s")));
    addRow(SettingsDialog::tr("Lock automatically"),
           SettingsDialog::tr("Operate returns to Monitor after this time without input."),
           makeNumber(Setting::Relock, SettingsDialog::tr("min")));
    addRow(SettingsDialog::tr("Ask before a change"),
           SettingsDialog::tr("Applies outside live mode. Cancel is always safe."),
           makeChoice(Setting::Confirm,
                      {SettingsDialog::tr("Always"), SettingsDialog::tr("Large changes")}));
    QWidget* above = makeNumber(Setting::ConfirmAbove, SettingsDialog::tr("MiB"));
    addRow(SettingsDialog::tr("A change is large above"),
           SettingsDialog::tr("Counts the bytes that move to another GPU."), above);
    addNote(SettingsDialog::tr("A change that cannot be rolled back always asks."));
    const auto follow = [&settings, above] {
      above->setEnabled(settings.text(Setting::Confirm) == QLatin1String("large"));
    };
    follow();
    QObject::connect(&settings, &Settings::changed, above, follow);
    end();
  }
};

class DataSettingsPage : public SettingsPage {
 public:
  DataSettingsPage(Settings& settings, const DataPlaces& places, QWidget* parent)
      : SettingsPage(settings, SettingsDialog::tr("Data"), parent) {
    addRow(SettingsDialog::tr("Keep a copy of the history"),
           SettingsDialog::tr("Stores changes, events and samples of the clusters that you watch, "
                              "to read them without a connection."),
           makeSwitch(Setting::Mirror));
    addRow(SettingsDialog::tr("Maximum size of a copy"),
           SettingsDialog::tr("Per cluster. The oldest samples are deleted first."),
           makeNumber(Setting::MirrorSize, SettingsDialog::tr("MiB")));
    addPlace(SettingsDialog::tr("Copies"), places.mirrors);
    addPlace(SettingsDialog::tr("Profiles, keys, local clusters"), places.home);
    addNote(SettingsDialog::tr("Only you can read these files. Nothing is sent anywhere."));
    end();
  }

 private:
  void addPlace(const QString& name, const QString& folder) {
    if (folder.isEmpty()) return;
    const bool exists = QFileInfo(folder).isDir();
    const QString size = exists ? format::bytes(sizeOf(folder)) : SettingsDialog::tr("empty");
    auto* open = new QPushButton(SettingsDialog::tr("Open folder"), this);
    open->setEnabled(exists);
    open->setAccessibleName(SettingsDialog::tr("Open %1").arg(folder));
    QObject::connect(open, &QPushButton::clicked, this,
                     [folder] { QDesktopServices::openUrl(QUrl::fromLocalFile(folder)); });
    addRow(name, SettingsDialog::tr("%1 in %2").arg(size, folder), open);
  }
};

}  // namespace

SettingsDialog::SettingsDialog(Settings& settings, ActionRegistry& actions,
                               const DataPlaces& places, QWidget* parent)
    : Dialog(parent),
      m_list(new QListWidget(this)),
      m_pages(new QStackedWidget(this)),
      m_reset(new QPushButton(tr("Reset this page"), this)) {
  setWindowTitle(tr("Settings"));
  m_list->setAccessibleName(tr("Pages"));
  m_pages->addWidget(new GeneralPage(
      settings, [this] { emit restartRequested(); }, this));
  m_pages->addWidget(new ColoursPage(settings, this));
  m_pages->addWidget(new SafetyPage(settings, this));
  m_pages->addWidget(new DataSettingsPage(settings, places, this));
  m_pages->addWidget(new ShortcutsPage(settings, actions, this));
  for (int i = 0; i < m_pages->count(); ++i) {
    auto* item = new QListWidgetItem(page(static_cast<Page>(i))->title(), m_list);
    item->setSizeHint({kPageListWidth - 16, 30});
  }

  auto* side = new Surface(Surface::Tone::Panel, this);
  side->setEdge(Qt::RightEdge);
  side->setFixedWidth(kPageListWidth);
  auto* sideColumn = new QVBoxLayout(side);
  sideColumn->setContentsMargins(8, 14, 8, 12);
  sideColumn->addWidget(m_list);

  m_reset->setFlat(true);
  m_reset->setAccessibleName(tr("Reset this page to its defaults"));
  auto* close = new QPushButton(tr("Close"), this);
  close->setDefault(true);
  close->setAccessibleName(tr("Close"));
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(m_reset);
  buttons->addStretch();
  buttons->addWidget(close);
  auto* main = new Surface(Surface::Tone::Canvas, this);
  auto* mainColumn = new QVBoxLayout(main);
  mainColumn->setContentsMargins(24, 18, 20, 16);
  mainColumn->setSpacing(14);
  mainColumn->addWidget(m_pages, 1);
  mainColumn->addLayout(buttons);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  row->addWidget(side);
  row->addWidget(main, 1);
  resize(780, 520);

  connect(m_list, &QListWidget::currentRowChanged, this, [this](int at) {
    m_pages->setCurrentIndex(at);
    m_reset->setVisible(at != Colours);
  });
  connect(m_reset, &QPushButton::clicked, this,
          [this] { page(static_cast<Page>(m_pages->currentIndex()))->reset(); });
  connect(close, &QPushButton::clicked, this, &QDialog::accept);
  showPage(General);
}

void SettingsDialog::showPage(Page page) { m_list->setCurrentRow(page); }

SettingsPage* SettingsDialog::page(Page page) const {
  return static_cast<SettingsPage*>(m_pages->widget(page));
}

}  // namespace tessera::ui
