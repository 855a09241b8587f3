// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The Tensors view: the shards of a job as pictures. A list of tensors; the whole model, one
/// layer or one tensor as boxes; with a change, before and after. Models of the catalogue can be
/// shown without a cluster.

#include <optional>
#include <string>

#include "ui/models/layout_maker.h"
#include "ui/models/tensor_group_model.h"
#include "ui/views/view.h"
#include "ui/widgets/surface.h"

class QAbstractButton;
class QButtonGroup;
class QCheckBox;
class QComboBox;
class QLabel;
class QSpinBox;
class QStackedWidget;
class QTableView;

namespace tessera::ui {

class ModelMap;
class TensorCanvas;

class TensorsView : public Surface, public View {
  Q_OBJECT

 public:
  enum class Scope { Model, Layer, Tensor };

  TensorsView(const ViewContext& context, QWidget* parent);

  QString id() const override { return QStringLiteral("tensors"); }
  QString title() const override { return tr("Tensors"); }
  QString actionText() const override { return tr("&Tensors"); }
  QString statusTip() const override {
    return tr("Show the tensors, how they are cut, and which GPUs hold the shards");
  }
  QKeySequence key() const override { return QKeySequence(QStringLiteral("Ctrl+2")); }
  QWidget* widget() override { return this; }
  QWidget* picture() override;
  QWidget* focusTarget() override;
  QLineEdit* filter() override;
  void showLayout(const ShownLayout& layout) override;
  void setStale(double age, const QString& asOf) override;

  /// The text shown instead of the pictures; empty while they are shown.
  QString words() const;
  TensorCanvas* canvas() const { return m_canvas; }
  ModelMap* map() const { return m_map; }
  QTableView* table() const { return m_table; }
  TensorGroupModel* groups() { return &m_groups; }
  const TensorLayouts::Ptr& layouts() const { return m_maker.layouts(); }
  Scope scope() const { return m_scope; }
  void setScope(Scope scope);
  QAbstractButton* chip(Scope scope) const;
  /// The job, then the models of the catalogue.
  QComboBox* subject() const { return m_subject; }
  QLineEdit* meshEdit() const { return m_mesh; }
  /// Why the model cannot be shown on the mesh; empty if it can.
  QString meshProblem() const;
  QString heading() const;
  /// "σ slice: … → φ partition: … → α allocate: …" of the shown tensor.
  QString steps() const;
  QString footer() const;
  /// Shows a tensor by its name or alias.
  /// \return whether there is one
  bool openTensor(const QString& name);

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  QWidget* buildChips();
  QWidget* buildList();
  QWidget* buildPictures();
  void fillSubjects();
  /// Requests the layouts of the subject.
  void request();
  void takeLayouts();
  void refresh();
  void refreshPictures();
  void refreshTexts();
  QString whyNothing() const;
  bool ofCatalogue() const;
  void choose(std::size_t group, int tensor);
  DeviceLooks looks(bool after) const;
  QString stepsOf(const ptc::TensorSpec& spec) const;

  ViewContext m_context;
  ShownLayout m_layout;
  LayoutMaker m_maker;
  TensorGroupModel m_groups;
  Scope m_scope = Scope::Model;
  std::optional<std::size_t> m_group;
  int m_tensor = -1;
  std::string m_name;  // of the chosen tensor, also while there are no layouts
  QString m_asOf;
  QLabel *m_words, *m_caption, *m_title, *m_facts, *m_steps, *m_footer, *m_sum;
  QComboBox *m_subject, *m_role;
  QLineEdit *m_mesh, *m_filter;
  QLabel* m_meshLabel;
  QButtonGroup* m_scopes;
  QSpinBox* m_layer;
  QCheckBox* m_compare;
  QTableView* m_table;
  QStackedWidget* m_stack;     // pictures or words
  QStackedWidget* m_pictures;  // map or canvas
  ModelMap* m_map;
  TensorCanvas* m_canvas;
};

}  // namespace tessera::ui
