// SPDX-License-Identifier: Apache-2.0
// The Tensors view: shards as the layout cuts them, before and after a change, and models without a
// cluster.
#include "ui/views/tensors_view.h"

#include <QAbstractItemModelTester>
#include <QAccessible>
#include <QAccessibleActionInterface>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <algorithm>
#include <map>
#include <set>

#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "tests/ui/panel_states.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/models/draft.h"
#include "ui/models/tensor_group_model.h"
#include "ui/models/tensor_layouts.h"
#include "ui/views/model_map.h"
#include "ui/views/shard_looks.h"
#include "ui/views/tensor_canvas.h"
#include "ui/views/tensor_frame.h"

using namespace tessera;
using ui::TensorsView;

namespace {

ptc::DeviceMesh meshOf(const char* text) { return *ptc::ParseDeviceMesh(text); }

ptc::TensorSpec tensor(const char* name, ptc::Shape shape, std::vector<ptc::DimCut> dims) {
  ptc::TensorSpec spec;
  spec.name = name;
  spec.shape = std::move(shape);
  spec.rule.dims = std::move(dims);
  return spec;
}

const ptc::DimCut kWhole{};
const ptc::DimCut kByTp{{ptc::Axis::kTp}};

/// Tensors of every rank and manner of cutting.
ptc::CollectionPtr everyKind() {
  std::vector<ptc::TensorSpec> all;
  all.push_back(tensor("scalar", {}, {}));
  all.push_back(tensor("vector", {10}, {{{ptc::Axis::kTp}, ptc::Split::kCeil}}));
  all.push_back(tensor("rows", {8, 6}, {kByTp, kWhole}));
  all.push_back(tensor("columns", {8, 6}, {kWhole, kByTp}));
  all.push_back(tensor("sheets", {4, 3, 8}, {kWhole, kWhole, kByTp}));
  all.push_back(tensor("experts", {4, 6, 5}, {{{ptc::Axis::kDp}}, kWhole, kWhole}));
  all.push_back(tensor("four", {2, 4, 3, 6}, {{{ptc::Axis::kDp}}, kByTp, kWhole, kWhole}));
  all.push_back(tensor("empty", {0, 6}, {kWhole, kWhole}));
  auto fused = tensor("qkv.weight", {12, 4}, {kByTp, kWhole});
  fused.segments = ptc::Segments{0, {{8}, {2}, {2}}};
  all.push_back(fused);
  auto flat = tensor("flat", {5, 7}, {kWhole, kWhole});
  flat.rule.flat = {ptc::Axis::kDp};
  flat.role = ptc::TensorRole::kExpAvg;
  all.push_back(flat);
  return *ptc::Collection::Make(std::move(all), 0);
}

ptc::Layout everyKindOn(const char* mesh) { return *ptc::Layout::Make(meshOf(mesh), everyKind()); }

constexpr auto kTwoByTwo = "dp=2,tp=2 on n0g0,n0g1,n1g0,n1g1";
constexpr auto kOneByTwo = "tp=2 on n0g0,n0g1";

/// By element, which devices the shards give it to; overlapping shards add up.
std::map<std::vector<std::int64_t>, std::set<ptc::DeviceId>> byElement(
    const std::vector<ui::Shard>& shards) {
  std::map<std::vector<std::int64_t>, std::set<ptc::DeviceId>> out;
  for (const ui::Shard& shard : shards) {
    for (const ptc::Box& box : shard.boxes) {
      std::vector<std::int64_t> at;
      for (int dim = 0; dim < box.rank(); ++dim) at.push_back(box[dim].begin);
      while (true) {
        out[at].insert(shard.holders.begin(), shard.holders.end());
        int dim = box.rank() - 1;
        while (dim >= 0 && ++at[static_cast<std::size_t>(dim)] == box[dim].end) {
          at[static_cast<std::size_t>(dim)] = box[dim].begin;
          --dim;
        }
        if (dim < 0) break;
      }
    }
  }
  return out;
}

/// The same from the engine.
std::map<std::vector<std::int64_t>, std::set<ptc::DeviceId>> expected(const ptc::Layout& layout,
                                                                      int tensor) {
  std::vector<ui::Shard> ranks;
  for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
    ui::Shard shard;
    shard.boxes = layout.Boxes(rank, tensor);
    shard.holders = {layout.mesh().devices()[static_cast<std::size_t>(rank)]};
    ranks.push_back(shard);
  }
  return byElement(ranks);
}

TensorsView* openView(test::Panel& panel) {
  panel.window->actions()->find(QStringLiteral("view.tensors"))->trigger();
  auto* view = panel.window->findChild<TensorsView*>();
  if (!QTest::qWaitFor([&] { return view->layouts() != nullptr; }, 10'000)) return nullptr;
  return view;
}

}  // namespace

class TensorsViewTest : public QObject {
  Q_OBJECT

 private slots:
  void theMapFadesWhatTheHighlightedDevicesDoNotHold() {
    test::Panel panel;
    panel.window->resize(1400, 900);
    TensorsView* view = openView(panel);
    QVERIFY(view != nullptr);
    ui::ModelMap* map = view->map();
    const auto faded = [&](const std::set<ptc::DeviceId>& devices) {
      map->setHighlighted(devices);
      const QImage picture = map->viewport()->grab().toImage();
      int full = 0, pale = 0, wrong = 0;
      for (int t = 0; t < static_cast<int>(view->layouts()->now().collection().tensors().size());
           ++t) {
        const QRectF rect = map->rectOf(t, false);
        if (rect.width() < 6 || rect.height() < 3) continue;
        // Away from the borders of halves and quarters.
        const QPoint at(static_cast<int>(rect.left() + rect.width() * 0.4),
                        static_cast<int>(rect.top() + rect.height() * 0.4));
        const auto hit = map->hitAt(at);
        if (!hit || !map->viewport()->rect().contains(at)) continue;
        const ui::DeviceLook look = ui::lookOfShard(map->content().before, hit->holders);
        if (look.pattern != ui::Pattern::Solid) continue;
        const bool isHeld =
            devices.empty() || std::ranges::any_of(hit->holders, [&](ptc::DeviceId device) {
              return devices.contains(device);
            });
        (isHeld ? full : pale) += 1;
        const QColor wanted = ui::fillOfShard(look, isHeld ? 1 : ui::kFadedShard);
        wrong += QColor(picture.pixel(at)) != wanted;
      }
      QTest::qVerify(wrong == 0, "colours", qPrintable(QString::number(wrong)), __FILE__, __LINE__);
      return std::pair(full, pale);
    };
    const auto [all, none] = faded({});
    QVERIFY(all > 10 && none == 0);
    const auto [held, others] = faded({{0, 1}});
    QVERIFY2(held > 0 && others > 0, qPrintable(QStringLiteral("%1 %2").arg(held).arg(others)));
    QCOMPARE(held + others, all);
    const auto [strange, pale] = faded({{77, 0}});
    QVERIFY(strange == 0 && pale == all);
    QCOMPARE(faded({}).first, all);
  }

  void shardsAreThoseOfTheLayout() {
    const auto from = everyKindOn(kTwoByTwo), to = everyKindOn(kOneByTwo);
    const auto layouts = *ui::TensorLayouts::make(from, to);
    for (int t = 0; t < static_cast<int>(from.collection().tensors().size()); ++t) {
      const ui::TensorPicture picture = layouts->picture(t);
      QCOMPARE(byElement(picture.before), expected(from, t));
      QCOMPARE(byElement(picture.after), expected(to, t));
      std::int64_t elements = 0, needed = 0;
      for (const ui::ShardCell& cell : picture.cells) {
        elements += cell.box.num_elements();
        QVERIFY(!cell.sources.empty());
        for (const auto device : cell.needers) {
          QVERIFY(std::ranges::find(cell.sources, device) == cell.sources.end());
        }
        needed += std::ssize(cell.needers);
      }
      QCOMPARE(elements * 4, layouts->bytesOf(t));
      QCOMPARE(picture.moved() == 0, needed == 0);
    }
  }

  void movedBytesAreThoseOfTheElements() {
    const auto from = everyKindOn(kOneByTwo), to = everyKindOn(kTwoByTwo);
    const auto layouts = *ui::TensorLayouts::make(from, to);
    for (int t = 0; t < static_cast<int>(from.collection().tensors().size()); ++t) {
      const auto before = expected(from, t), after = expected(to, t);
      std::int64_t bytes = 0;
      for (const auto& [at, devices] : after) {
        for (const auto device : devices) bytes += before.at(at).contains(device) ? 0 : 4;
      }
      QCOMPARE(layouts->picture(t).moved(), bytes);
    }
  }

  void splitShardsAreNamedAfterTheirOrigin() {
    const auto two = meshOf(kOneByTwo), four = meshOf("tp=4 on n0g0,n0g1,n1g0,n1g1");
    const auto rows = *ptc::Collection::Make({tensor("rows", {8, 6}, {kByTp, kWhole})}, 0);
    const auto layouts =
        *ui::TensorLayouts::make(*ptc::Layout::Make(two, rows), *ptc::Layout::Make(four, rows));
    const auto picture = layouts->picture(0);
    QStringList labels;
    for (const auto& shard : picture.after) labels << shard.label;
    QCOMPARE(labels, (QStringList{"0a", "0b", "1a", "1b"}));
    const auto back =
        *ui::TensorLayouts::make(*ptc::Layout::Make(four, rows), *ptc::Layout::Make(two, rows));
    labels.clear();
    for (const auto& shard : back->picture(0).after) labels << shard.label;
    QCOMPARE(labels, (QStringList{"0+1", "2+3"}));
  }

  void boxesAreDrawnAtTheirRanges() {
    const auto layout = everyKindOn(kTwoByTwo);
    const auto layouts = *ui::TensorLayouts::make(layout, std::nullopt);
    const QRectF area(0, 0, 240, 240);
    for (int t = 0; t < static_cast<int>(layout.collection().tensors().size()); ++t) {
      const ptc::TensorSpec& spec = layouts->spec(t);
      std::vector<ptc::Box> boxes;
      for (const auto& shard : layouts->picture(t).before) {
        boxes.insert(boxes.end(), shard.boxes.begin(), shard.boxes.end());
      }
      const auto axes = ui::TensorFrame::axesFor(spec, boxes);
      const ui::TensorFrame frame(spec, boxes, axes, area);
      std::vector<QRectF> rects;
      for (const ptc::Box& box : boxes) {
        const auto each = frame.rectsOf(box);
        QVERIFY2(!each.empty(), spec.name.c_str());
        rects.insert(rects.end(), each.begin(), each.end());
      }
      // Boxes do not overlap, stay in the picture, and are as large as their share of the rows and
      // columns.
      for (std::size_t i = 0; i < rects.size(); ++i) {
        QVERIFY2(area.adjusted(-0.01, -0.01, 0.01, 0.01).contains(rects[i]), spec.name.c_str());
        QVERIFY2(rects[i].width() > 1 && rects[i].height() > 1, spec.name.c_str());
        for (std::size_t j = 0; j < i; ++j) {
          const QRectF both = rects[i]
                                  .adjusted(0.01, 0.01, -0.01, -0.01)
                                  .intersected(rects[j].adjusted(0.01, 0.01, -0.01, -0.01));
          QVERIFY2(both.isEmpty(), spec.name.c_str());
        }
      }
    }
  }

  void segmentsHaveNamesAndGaps() {
    const auto layout = everyKindOn(kOneByTwo);
    const int t = *layout.collection().Find("qkv.weight");
    const auto& spec = layout.collection().tensors()[static_cast<std::size_t>(t)];
    const auto boxes = layout.Boxes(0, t);
    const ui::TensorFrame frame(spec, boxes, {0, 1}, QRectF(0, 0, 100, 316));
    QStringList names;
    for (const auto& band : frame.bands()) names << band.name;
    QCOMPARE(names, (QStringList{"q", "k", "v"}));
    QVERIFY(frame.bands()[1].from > frame.bands()[0].to);
    QCOMPARE(frame.bands()[0].to - frame.bands()[0].from, 200.0);  // 8 of 12 rows of 300 pixels
  }

  void aShardLooksLikeItsGpus() {
    const ui::DeviceLook red{Qt::red}, blue{Qt::blue};
    const ui::DeviceLooks looks{{{0, 0}, red}, {{0, 1}, blue}, {{1, 0}, red}};
    QVERIFY(ui::lookOfShard(looks, {{0, 0}, {1, 0}}) == red);
    const auto grey = ui::lookOfShard(looks, {{0, 0}, {0, 1}});
    QVERIFY(!(grey == red) && !(grey == blue));
    QVERIFY(!(ui::lookOfPart(red, 1) == red));
    QCOMPARE(ui::lookOfPart(red, 1).color, red.color);
  }

  void equalTensorsAreOneRow() {
    test::Panel panel;
    TensorsView* view = openView(panel);
    QVERIFY(view != nullptr);
    QAbstractItemModelTester tester(view->groups(),
                                    QAbstractItemModelTester::FailureReportingMode::Fatal);
    std::set<int> seen;
    for (const auto& group : view->layouts()->groups()) {
      for (const int t : group.tensors) QVERIFY(seen.insert(t).second);
      const ptc::TensorSpec& first = view->layouts()->spec(group.tensors.front());
      for (const int t : group.tensors) QCOMPARE(view->layouts()->spec(t).shape, first.shape);
    }
    QCOMPARE(seen.size(), view->layouts()->now().collection().tensors().size());
    // gpt-mini has four layers.
    const auto& groups = view->layouts()->groups();
    const auto qkv =
        std::ranges::find(groups, QStringLiteral("h.*.attn.qkv.weight"), &ui::TensorGroup::name);
    QVERIFY(qkv != groups.end());
    QCOMPARE(static_cast<std::int64_t>(qkv->tensors.size()),
             view->layouts()->now().collection().num_layers());
  }

  void theListIsFilteredAndSorted() {
    test::Panel panel;
    TensorsView* view = openView(panel);
    QVERIFY(view != nullptr);
    ui::TensorGroupModel* groups = view->groups();
    const int all = groups->rowCount();
    view->filter()->setText(QStringLiteral("QKV"));
    QVERIFY(groups->rowCount() > 0 && groups->rowCount() < all);
    for (int row = 0; row < groups->rowCount(); ++row) {
      QVERIFY(groups->index(row, 0).data().toString().contains(QLatin1String("qkv")));
    }
    view->filter()->setText(QStringLiteral("nothing like it"));
    QCOMPARE(groups->rowCount(), 0);
    view->filter()->clear();
    QCOMPARE(groups->rowCount(), all);
    groups->sort(ui::TensorGroupModel::BytesColumn, Qt::DescendingOrder);
    for (std::size_t i = 1; i < groups->shown().size(); ++i) {
      QVERIFY(view->layouts()->groups()[groups->shown()[i - 1]].bytes >=
              view->layouts()->groups()[groups->shown()[i]].bytes);
    }
    groups->sort(ui::TensorGroupModel::HoldersColumn, Qt::AscendingOrder);
    for (std::size_t i = 1; i < groups->shown().size(); ++i) {
      QVERIFY(view->layouts()->groups()[groups->shown()[i - 1]].leastHolders <=
              view->layouts()->groups()[groups->shown()[i]].leastHolders);
    }
  }

  void theFilterIsReachedByItsKey() {
    test::Panel panel;
    TensorsView* view = openView(panel);
    QVERIFY(view != nullptr);
    panel.window->actions()->find(QStringLiteral("view.find"))->trigger();
    QVERIFY(view->filter()->hasFocus());
  }

  void aHoveredShardMarksExactlyItsHolders() {
    test::Panel panel;
    TensorsView* view = openView(panel);
    QVERIFY(view != nullptr);
    QVERIFY(view->openTensor(QStringLiteral("h.0.attn.qkv.weight")));
    test::settle();
    ui::TensorCanvas* canvas = view->canvas();
    QSignalSpy spy(canvas, &ui::TensorCanvas::hovered);
    const ui::Shard& shard = canvas->shard({false, 1});
    QTest::mouseMove(canvas, canvas->rectsOf({false, 1}).front().center().toPoint());
    QVERIFY(!spy.isEmpty());
    const auto devices = spy.last().first().value<std::set<ptc::DeviceId>>();
    QCOMPARE(devices, std::set<ptc::DeviceId>(shard.holders.begin(), shard.holders.end()));
    // A click selects them in the mesh.
    QTest::mouseClick(canvas, Qt::LeftButton, {},
                      canvas->rectsOf({false, 1}).front().center().toPoint());
    QCOMPARE(panel.window->meshView()->selection(), devices);
  }

  void everyShardIsAnAccessibleChild() {
    QAccessible::setActive(true);
    test::Panel panel({.operate = true});
    TensorsView* view = openView(panel);
    QVERIFY(view != nullptr);
    QVERIFY(view->openTensor(QStringLiteral("h.0.attn.qkv.weight")));
    ui::TensorCanvas* canvas = view->canvas();
    QAccessibleInterface* list = QAccessible::queryAccessibleInterface(canvas);
    QVERIFY(list != nullptr);
    QCOMPARE(list->role(), QAccessible::List);
    QCOMPARE(list->childCount(), static_cast<int>(canvas->picture().before.size()));
    for (int i = 0; i < list->childCount(); ++i) {
      const QString name = list->child(i)->text(QAccessible::Name);
      const ui::TensorCanvas::At at{false, static_cast<std::size_t>(i)};
      QVERIFY2(name.contains(canvas->shard(at).label) && name.contains(canvas->holdersText(at)),
               qPrintable(name));
      QVERIFY2(name.contains(QLatin1String("dim 0: ")), qPrintable(name));
      QCOMPARE(list->indexOfChild(list->child(i)), i);
      const QPoint middle = list->child(i)->rect().center();
      QCOMPARE(list->childAt(middle.x(), middle.y()), list->child(i));
    }
    QVERIFY(!list->child(-1) && !list->child(list->childCount()));
    list->child(1)->actionInterface()->doAction(QAccessibleActionInterface::pressAction());
    QCOMPARE(canvas->current(), std::optional(ui::TensorCanvas::At{false, 1}));
    QVERIFY(list->child(1)->state().selected && !list->child(0)->state().selected);
    const auto& holders = canvas->shard({false, 1}).holders;
    QCOMPARE(panel.window->meshView()->selection(),
             std::set<ptc::DeviceId>(holders.begin(), holders.end()));

    // With a draft the shards after it follow, and say what is sent.
    emit panel.window->meshView()->toggleRequested({{1, 0}, {1, 1}, {1, 2}, {1, 3}});
    QVERIFY(QTest::qWaitFor([&] { return view->layouts() && view->layouts()->next(); }, 10'000));
    QVERIFY(view->openTensor(QStringLiteral("h.0.attn.qkv.weight")));
    const auto& picture = canvas->picture();
    QCOMPARE(list->childCount(), static_cast<int>(picture.before.size() + picture.after.size()));
    QVERIFY(list->child(0)->text(QAccessible::Name).startsWith(QLatin1String("now, ")));
    const QString last = list->child(list->childCount() - 1)->text(QAccessible::Name);
    QVERIFY2(last.startsWith(QLatin1String("after, ")) && last.contains(u'←'), qPrintable(last));
    QAccessible::setActive(false);
  }

  void keysMoveBetweenShards() {
    test::Panel panel;
    TensorsView* view = openView(panel);
    QVERIFY(view != nullptr);
    QVERIFY(view->openTensor(QStringLiteral("h.0.attn.qkv.weight")));
    ui::TensorCanvas* canvas = view->canvas();
    canvas->setFocus(Qt::TabFocusReason);
    canvas->setCurrent(ui::TensorCanvas::At{});
    QTest::keyClick(canvas, Qt::Key_End);
    const std::size_t last = canvas->picture().before.size() - 1;
    QCOMPARE(canvas->current()->shard, last);
    QTest::keyClick(canvas, Qt::Key_Up);
    QCOMPARE(canvas->current()->shard, last - 1);
    QTest::keyClick(canvas, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QGuiApplication::clipboard()->text(), canvas->rangesOf(*canvas->current()));
    QVERIFY(view->footer().contains(canvas->shard(*canvas->current()).label));
    QTest::keyClick(canvas, Qt::Key_Return);
    const auto& holders = canvas->shard(*canvas->current()).holders;
    QCOMPARE(panel.window->meshView()->selection(),
             std::set<ptc::DeviceId>(holders.begin(), holders.end()));
  }

  void aDraftIsShownBesideLive() {
    test::Panel panel({.operate = true});
    TensorsView* view = openView(panel);
    QVERIFY(view != nullptr);
    QVERIFY(view->layouts()->next() == nullptr);
    QVERIFY(view->openTensor(QStringLiteral("h.2.attn.qkv.weight")));
    emit panel.window->meshView()->toggleRequested({{1, 0}, {1, 1}, {1, 2}, {1, 3}});
    QVERIFY(panel.waitForPlan());
    QVERIFY(QTest::qWaitFor(
        [&] { return view->layouts() != nullptr && view->layouts()->next() != nullptr; }, 10'000));
    QCOMPARE(view->layouts()->next()->mesh().num_ranks(), 8);
    // The tensor of the same layer stays chosen.
    QVERIFY2(view->footer().contains(QLatin1String("h.2.attn.qkv.weight")),
             qPrintable(view->footer()));
    QVERIFY(view->openTensor(QStringLiteral("h.0.attn.qkv.weight")));
    QVERIFY(view->canvas()->isComparing());
    QVERIFY(view->canvas()->picture().moved() > 0);
    // Esc returns to Live, which has no change.
    panel.window->actions()->find(QStringLiteral("view.live"))->trigger();
    QVERIFY(QTest::qWaitFor(
        [&] { return view->layouts() != nullptr && view->layouts()->next() == nullptr; }, 10'000));
    QVERIFY(!view->canvas()->isComparing());
  }

  void theMapHasEveryTensorOfTheList() {
    test::Panel panel;
    TensorsView* view = openView(panel);
    QVERIFY(view != nullptr);
    test::settle();
    for (const std::size_t g : view->groups()->shown()) {
      for (const int t : view->layouts()->groups()[g].tensors) {
        const QRectF rect = view->map()->rectOf(t, false);
        QVERIFY(!rect.isEmpty());
        const auto hit = view->map()->hitAt(rect.center().toPoint());
        if (!hit) continue;  // below the fold
        QCOMPARE(hit->tensor, t);
        QVERIFY(!hit->holders.empty());
      }
    }
    view->setScope(TensorsView::Scope::Layer);
    const auto& groups = view->layouts()->groups();
    const auto qkv =
        std::ranges::find(groups, QStringLiteral("h.*.attn.qkv.weight"), &ui::TensorGroup::name);
    QVERIFY(!view->map()->rectOf(qkv->tensors[0], false).isEmpty());
    QVERIFY(view->map()->rectOf(qkv->tensors[1], false).isEmpty());
  }

  void aTensorOfTheMapOpensWhereItIsClicked() {
    test::Panel panel;
    TensorsView* view = openView(panel);
    QVERIFY(view != nullptr);
    test::settle();
    const int t = *view->layouts()->now().collection().Find("h.1.mlp.fc2.weight");
    QTest::mouseClick(view->map()->viewport(), Qt::LeftButton, {},
                      view->map()->rectOf(t, false).center().toPoint());
    QCOMPARE(view->scope(), TensorsView::Scope::Tensor);
    QVERIFY(view->heading().startsWith(QLatin1String("h.*.mlp.fc2.weight")));
    QVERIFY(view->steps().contains(QLatin1String("dim 1 over tp")));
  }

  void modelsOfTheCatalogueNeedNoCluster() {
    test::Panel panel({}, test::IdleCluster(1, 2));
    panel.window->actions()->find(QStringLiteral("view.tensors"))->trigger();
    auto* view = panel.window->findChild<TensorsView*>();
    test::settle();
    QVERIFY(view->words().contains(QLatin1String("No job is running.")));
    view->meshEdit()->setText(QStringLiteral("dp=2,tp=4,pp=2"));
    view->subject()->setCurrentText(QStringLiteral("llama-3-8b"));
    QVERIFY(QTest::qWaitFor([&] { return view->layouts() != nullptr; }, 20'000));
    QCOMPARE(view->words(), QString());
    QCOMPARE(view->layouts()->now().mesh().num_ranks(), 16);
    // A mesh that the model cannot take: one sentence.
    view->meshEdit()->setText(QStringLiteral("tp=12"));
    emit view->meshEdit()->editingFinished();
    QVERIFY(QTest::qWaitFor([&] { return view->layouts() == nullptr; }, 20'000));
    QVERIFY(view->meshProblem().contains(QLatin1String("12")));
    view->meshEdit()->setText(QStringLiteral("tp=8"));
    emit view->meshEdit()->editingFinished();
    QVERIFY(QTest::qWaitFor([&] { return view->layouts() != nullptr; }, 20'000));
  }
};

TESSERA_THEMED_TEST(TensorsViewTest)
#include "tensors_view_test.moc"
