// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/files_page.h"

#include <QAction>
#include <QDesktopServices>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedLayout>
#include <QUrl>
#include <QVBoxLayout>
#include <utility>

#include "ui/actions/menus.h"
#include "ui/connections.h"
#include "ui/models/cluster_model.h"
#include "ui/pages/file_details.h"
#include "ui/pages/file_tree_view.h"
#include "ui/views/selection_model.h"
#include "ui/widgets/copy_line.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/scrolled.h"

namespace tessera::ui {
namespace {

constexpr int kMountMs = 2000;
constexpr int kCommandWidth = 460;

}  // namespace

FilesPage::FilesPage(const ViewContext& context, QWidget* parent)
    : Surface(Tone::Canvas, parent),
      m_context(context),
      m_model(context.model),
      m_connections(context.connections),
      m_states(context.states),
      m_stack(new QStackedLayout(this)),
      m_words(wrappingLabel(QStringLiteral("hint"), this)),
      m_mountLabel(wrappingLabel(QString(), this)),
      m_hint(wrappingLabel(QStringLiteral("hint"), this)),
      m_command(new CopyLine(tr("command"), tr("Copy"), this)),
      m_openFolder(new QPushButton(tr("Open folder"), this)),
      m_filter(new QLineEdit(this)),
      m_tree(new FileTreeView(m_files, this)),
      m_details(new FileDetails(this)) {
  m_words->setAlignment(Qt::AlignCenter);
  QScrollArea* scroll = scrolled(m_details, this);
  scroll->setAccessibleName(tr("The selected file"));
  auto* splitter = new QSplitter(Qt::Horizontal, this);
  splitter->setObjectName(QStringLiteral("filesSplitter"));
  splitter->addWidget(buildTree());
  splitter->addWidget(scroll);
  splitter->setChildrenCollapsible(false);
  splitter->setStretchFactor(0, 2);
  splitter->setStretchFactor(1, 3);
  splitter->setSizes({390, 500});

  auto* content = new Surface(Tone::Canvas, this);
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(buildHeader());
  column->addWidget(new Rule(this));
  column->addWidget(splitter, 1);
  m_stack->addWidget(m_words);
  m_stack->addWidget(content);

  m_mountTimer.setInterval(kMountMs);
  connect(&m_mountTimer, &QTimer::timeout, this, &FilesPage::refreshMount);
  connect(&m_model, &ClusterModel::changed, this, &FilesPage::refresh);
  connect(&m_states, &JobStates::changed, this, &FilesPage::refresh);
  connect(m_tree, &FileTreeView::chosen, this, &FilesPage::showChosen);
  connect(m_tree, &FileTreeView::chosen, this, [this] { m_context.rulesChanged(); });
  connect(&m_files, &FileTreeModel::planMade, this, [this](const QModelIndex& file) {
    if (m_tree->currentIndex().siblingAtColumn(0) == file) showChosen();
  });
  connect(m_details, &FileDetails::devicesChosen, this,
          [this](const Devices& devices) { m_context.selection.setDevices(devices); });
  connect(&m_context.selection, &SelectionModel::devicesChanged, this,
          [this] { m_details->setSelection(m_context.selection.devices()); });
  connect(m_details, &FileDetails::said, this,
          [this](const QString& text) { m_context.say(text); });
  connect(m_command, &CopyLine::copied, this,
          [this](const QString& text) { m_context.say(tr("Copied %1").arg(text)); });
  connect(m_openFolder, &QPushButton::clicked, this, &FilesPage::openFolder);
  connect(&m_model, &ClusterModel::cleared, this, [this] { m_chosen = false; });
  if (m_connections != nullptr) {
    m_details->setIsHere([this](std::int32_t node) { return isHere(node); });
  }
  addTreeActions();
  refresh();
}

QWidget* FilesPage::buildHeader() {
  auto* header = new QWidget(this);
  auto* row = new QHBoxLayout(header);
  row->setContentsMargins(16, 8, 16, 8);
  row->setSpacing(10);
  m_mountLabel->setWordWrap(false);
  m_mountLabel->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_openFolder->setAccessibleName(tr("Open the folder of the selected file"));
  row->addWidget(m_mountLabel);
  m_command->setMaximumWidth(kCommandWidth);
  row->addWidget(m_command, 1);
  row->addStretch();
  row->addWidget(m_openFolder);
  return header;
}

QWidget* FilesPage::buildTree() {
  m_filter->setPlaceholderText(tr("Filter tensors, or ranks: 17, n2, n2g1"));
  m_filter->setAccessibleName(tr("Filter tensors and ranks"));
  m_filter->setClearButtonEnabled(true);
  connect(m_filter, &QLineEdit::textChanged, this, &FilesPage::applyFilter);
  auto* side = new Surface(Tone::Panel, this);
  side->setMinimumWidth(200);
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(10, 10, 7, 6);
  column->setSpacing(8);
  column->addWidget(m_filter);
  column->addWidget(m_hint);
  column->addWidget(m_tree, 1);
  return side;
}

void FilesPage::addTreeActions() {
  const auto add = [this](const QString& text, auto&& slot) {
    auto* action = new QAction(text, m_tree);
    action->setShortcutContext(Qt::WidgetShortcut);
    connect(action, &QAction::triggered, this, slot);
    m_tree->addAction(action);
    return action;
  };
  add(tr("Copy path"), &FilesPage::copyPath)->setShortcut(QKeySequence::Copy);
  QAction* python = add(tr("Copy Python line"), [this] { m_details->pythonCopy()->copy(); });
  QAction* folder = add(tr("Open folder"), &FilesPage::openFolder);
  connect(m_tree, &FileTreeView::chosen, this, [this, python, folder] {
    python->setEnabled(m_details->facts().safetensors);
    folder->setEnabled(m_mount.has_value());
  });
  m_tree->setContextMenuPolicy(Qt::ActionsContextMenu);
}

QString FilesPage::words() const {
  return m_stack->currentIndex() == 0 ? m_words->text() : QString();
}

QString FilesPage::hintText() const { return m_hint->text(); }

QString FilesPage::mountText() const { return m_mountLabel->text(); }

void FilesPage::showEvent(QShowEvent* event) {
  Surface::showEvent(event);
  m_mountTimer.start();
  refreshMount();
  m_states.setActive(this, true);
  if (m_layout.live) m_details->setLooks(looksOf(*m_layout.live));
  refresh();
}

void FilesPage::hideEvent(QHideEvent* event) {
  Surface::hideEvent(event);
  m_mountTimer.stop();
  m_states.setActive(this, false);
}

void FilesPage::refresh() {
  if (!isVisible()) return;
  m_files.setJobs(m_states.jobs());
  const bool shown = !m_states.jobs().empty() && !m_model.isFile() &&
                     m_layout.source != LayoutSource::Past &&
                     m_layout.source != LayoutSource::Lesson;
  m_stack->setCurrentIndex(shown ? 1 : 0);
  if (!shown) {
    m_words->setText(whyNothing());
    return;
  }
  if (!std::exchange(m_chosen, true)) chooseFirst();
  refreshHint();
  showChosen();
}

QString FilesPage::whyNothing() const {
  if (m_model.isFile()) return tr("A history file contains no state.");
  if (m_layout.source == LayoutSource::Past)
    return tr(
        "The history contains no state, so there are no files of the past. Return to live to "
        "see the files of now.");
  if (m_layout.source == LayoutSource::Lesson)
    return tr("The cluster of a lesson is simulated, so it has no files.");
  if (!m_model.hasSnapshot()) return tr("There is no cluster to show.");
  if (!m_states.problem().isEmpty()) {
    return tr("The list of files could not be read: %1. Trying again.").arg(m_states.problem());
  }
  if (!m_states.isKnown()) {
    return m_model.link() == LinkState::Connected ? tr("Reading the list of files…")
                                                  : tr("There is no connection to the cluster.");
  }
  const engine::JobStatus* job = m_model.job();
  if (job == nullptr) return tr("No job is running, so there are no files.");
  return tr("%1 has no layout yet, so it has no files.").arg(QString::fromStdString(job->name));
}

void FilesPage::chooseFirst() {
  const engine::JobStatus* job = m_model.job();
  const std::string& first = m_states.jobs().begin()->first;
  const bool known = job != nullptr && m_states.jobs().contains(job->name);
  const QString folder =
      QStringLiteral("jobs/") + QString::fromStdString(known ? job->name : first);
  m_tree->open(folder + QStringLiteral("/full"));
  m_tree->choose(folder + QStringLiteral("/full/model.safetensors"));
}

void FilesPage::refreshMount() {
  m_mount = m_connections == nullptr ? std::nullopt : m_connections->mountPoint();
  const QString cluster = m_connections == nullptr ? QString() : m_connections->current();
  setRole(m_mountLabel, m_mount ? QString() : QStringLiteral("hint"));
  m_mountLabel->setText(m_mount ? tr("Mounted on this machine at %1").arg(*m_mount)
                                : tr("Not mounted on this machine. To mount the files here, run:"));
  m_command->setVisible(!m_mount);
  m_command->setText(cluster.isEmpty()
                         ? QStringLiteral("tesseractl mount DIR")
                         : QStringLiteral("tesseractl --cluster %1 mount DIR").arg(cluster));
  m_openFolder->setVisible(m_mount.has_value());
  m_details->setMountPoint(m_mount);
}

void FilesPage::refreshHint() {
  QString hint;
  if (m_layout.source == LayoutSource::Draft)
    hint = tr("These are the files of the live job. A draft has no files.");
  if (!m_asOf.isEmpty()) hint = m_asOf;
  m_hint->setText(hint);
  m_hint->setVisible(!hint.isEmpty());
}

void FilesPage::showChosen() {
  const QModelIndex index = m_tree->currentIndex();
  m_details->setVisible(index.isValid());
  if (!index.isValid()) return;
  m_details->setFacts(makeFileFacts(m_files, index, m_details->facts()));
}

bool FilesPage::isHere(std::int32_t node) const {
  const engine::NodeStatus* status = m_model.findNode(node);
  return status != nullptr && m_connections->isHere(*status);
}

void FilesPage::applyFilter() {
  const QModelIndex current = m_tree->currentIndex();
  const QString path = current.isValid() ? m_files.path(current) : QString();
  const QString tensor = current.isValid() && m_files.tensor(current)
                             ? current.siblingAtColumn(0).data().toString()
                             : QString();
  m_files.setFilter(m_filter->text());
  if (path.isEmpty()) return;
  m_tree->choose(path, tensor);
}

QWidget* FilesPage::focusTarget() { return m_tree; }

QLineEdit* FilesPage::filter() { return words().isEmpty() ? m_filter : nullptr; }

QList<View::Command> FilesPage::commands() {
  return {
      {ActionRegistry::Spec{.id = QStringLiteral("edit.copyPath"),
                            .menu = Menus::edit(),
                            .text = tr("&Copy the File's Path"),
                            .statusTip = tr("Copy the path of the file selected in the Files view"),
                            .icon = QStringLiteral("copy"),
                            .separatorBefore = true,
                            .blocked = [this] { return copyBlockedReason(); }},
       [this] { copyPath(); }}};
}

void FilesPage::showLayout(const ShownLayout& layout) {
  const bool turned = m_layout.source != layout.source;
  m_layout = layout;
  if (turned) refresh();
  refreshHint();
  if (isVisible()) m_details->setLooks(looksOf(*layout.live));
}

void FilesPage::setStale(double, const QString& asOf) {
  m_asOf = asOf;
  m_tree->setStale(!asOf.isEmpty());
  m_details->setStale(!asOf.isEmpty());
  refreshHint();
}

QString FilesPage::copyBlockedReason() const {
  if (!isVisible() || !words().isEmpty() || !m_tree->currentIndex().isValid()) {
    return tr("Select a file in the Files view first.");
  }
  return {};
}

void FilesPage::copyPath() { m_details->pathLine()->copy(); }

void FilesPage::openFolder() {
  if (!m_mount) return;
  const QString path = m_details->path();
  const QModelIndex row = m_tree->currentIndex();
  const bool folder = row.isValid() && IsFolder(m_files.key(row));
  QDesktopServices::openUrl(QUrl::fromLocalFile(folder ? path : QFileInfo(path).path()));
}

}  // namespace tessera::ui
