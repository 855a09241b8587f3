// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The centre of the window: the views in tabs, the notices above them, and the cards below them.

#include <QCoreApplication>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "ui/views/view.h"
#include "ui/widgets/surface.h"
#include "ui/window/notices.h"
#include "ui/window/presenter.h"

namespace tessera::ui {

class ColourBar;
class CountdownBar;
class DecisionPanel;
class MeshPage;
class MeshView;
class ProgressPanel;
class TabbedPane;
struct StoppedCluster;

class CentrePane : public Surface {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MainWindow)

 public:
  struct Parts {
    ClusterModel& model;
    MoveControl& control;
    const OperatorSeat& seat;
    /// The command line of tesseractl with these words, for the shown cluster.
    std::function<QString(const QStringList& words)> commandLine;
  };

  /// All parts outlive it.
  CentrePane(const Parts& parts, QWidget* parent);
  ~CentrePane() override;
  /// Completes the pane. Call it once.
  void addViews(const ViewContext& context);
  /// The views are about to be deleted, before the parts that they use: they get nothing more.
  void release();

  const std::vector<View*>& views() const { return m_views; }
  TabbedPane* tabs() const { return m_tabs; }
  ColourBar* colours() const { return m_colours; }
  MeshPage* meshPage() const { return m_meshPage; }
  MeshView* mesh() const;
  Notices& notices() { return m_notices; }
  DecisionPanel* decision() const { return m_decision; }
  ProgressPanel* progress() const { return m_progress; }
  bool isShown(const QString& view) const;
  SceneLooks looks() const;
  /// Of the change that runs, 0 to 1; nothing: none does.
  std::optional<double> moved() const;

  void showLayout(const ShownLayout& layout);
  /// As View::setStale().
  void setStale(double age, const QString& asOf);
  /// Updates notices, state page and frame.
  /// \param facts without `countsDown`
  /// \param canConnect whether the panel has connections
  /// \param stopped what can be done with a stopped cluster; null: not known
  void refresh(NoticeFacts facts, bool canConnect, const StoppedCluster* stopped = nullptr);

 private:
  void followTab();
  /// Once for each decision.
  void announceDecision();

  const ClusterModel& m_model;
  Notices m_notices;
  CountdownBar* m_countdown;
  DecisionPanel* m_decision;
  ProgressPanel* m_progress;
  TabbedPane* m_tabs;
  ColourBar* m_colours = nullptr;
  MeshPage* m_meshPage = nullptr;
  QString m_asking;  // the job whose decision is announced
  std::vector<View*> m_views;
};

}  // namespace tessera::ui
