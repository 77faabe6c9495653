#include "datasets/garments.hpp"

#include <algorithm>

namespace convladder {
namespace {

// At most one random number is drawn in the arguments of a call: the order in which a compiler evaluates them is its
// own choice, and the images are to be the same with every compiler.

/// The inputs of every drawing: where to draw, the source of its proportions, and its cloth.
struct Sketch {
  Canvas& canvas;
  SeededRandom& random;
  int brightness;

  int between(int low, int high) { return random.between(low, high); }

  /// Fills with the cloth's brightness, `difference` lighter or darker.
  void fill(const Polygon& polygon, int difference = 0) {
    canvas.fill(polygon, std::clamp(brightness + difference, 15, 255));
  }
  void fill_both_sides(const Polygon& polygon, int difference = 0) {
    fill(polygon, difference);
    fill(mirrored(polygon), difference);
  }
  void cut_out(const Polygon& polygon) { canvas.fill(polygon, 0); }
};

Polygon rectangle(int left, int top, int right, int bottom) {
  return {{left, top}, {right, top}, {right, bottom}, {left, bottom}};
}

/// Half widths and heights of a garment's body.
struct Torso {
  int neck;
  int neck_depth;
  int shoulder;
  int waist;
  int hem;
  int top;
  int bottom;
};

void draw_torso(Sketch& sketch, const Torso& torso) {
  const int waist_height = (torso.top + torso.bottom) / 2;
  sketch.fill(symmetric({{0, torso.top + torso.neck_depth},
                         {torso.neck, torso.top},
                         {torso.shoulder, torso.top + 14},
                         {torso.shoulder - 2, torso.top + 50},
                         {torso.waist, waist_height},
                         {torso.hem, torso.bottom},
                         {0, torso.bottom + 3}}));
}

/// A sleeve from the shoulder to a cuff whose outer corner is at (reach, end).
struct Sleeve {
  int reach;
  int end;
  int width;
};

void draw_sleeves(Sketch& sketch, const Torso& torso, const Sleeve& sleeve, int difference) {
  sketch.fill_both_sides({{torso.shoulder - 8, torso.top + 11},
                          {torso.shoulder + 6, torso.top + 20},
                          {sleeve.reach, sleeve.end},
                          {sleeve.reach - sleeve.width, sleeve.end + sleeve.width / 3},
                          {torso.shoulder - 6, torso.top + 30 + sleeve.width}},
                         difference);
}

Sleeve short_sleeve(Sketch& sketch) {
  return {sketch.between(84, 112), sketch.between(-52, -18), sketch.between(26, 38)};
}

Sleeve long_sleeve(Sketch& sketch) { return {sketch.between(86, 112), sketch.between(40, 92), sketch.between(20, 32)}; }

Torso wide_torso(Sketch& sketch, int lowest_hem, int highest_hem) {
  const int shoulder = sketch.between(50, 66);
  return {.neck = sketch.between(18, 30),
          .neck_depth = sketch.between(4, 22),
          .shoulder = shoulder,
          .waist = shoulder - sketch.between(0, 12),
          .hem = shoulder - sketch.between(-6, 10),
          .top = sketch.between(-112, -96),
          .bottom = sketch.between(lowest_hem, highest_hem)};
}

void draw_t_shirt(Sketch& sketch) {
  const Torso torso = wide_torso(sketch, 80, 112);
  const Sleeve sleeve = short_sleeve(sketch);
  draw_sleeves(sketch, torso, sleeve, sketch.between(-25, 5));
  draw_torso(sketch, torso);
  if (sketch.random.chance(35)) {  // a print on the chest
    const int half = sketch.between(12, 28);
    const int bottom = sketch.between(-25, 15);
    sketch.fill(rectangle(-half, -45, half, bottom), sketch.between(-110, 110));
  }
}

void draw_trouser(Sketch& sketch) {
  const int waist = sketch.between(26, 42);
  const int top = sketch.between(-124, -108);
  const int crotch = sketch.between(-55, -15);
  const int outside = waist + sketch.between(2, 24);
  const int leg = sketch.between(16, 30);
  const int bottom = sketch.between(98, 126);
  sketch.fill(symmetric({{0, top},
                         {waist, top},
                         {waist + 8, crotch},
                         {outside, bottom},
                         {std::max(outside - leg, 3), bottom},
                         {2, crotch}}));
  sketch.fill(rectangle(-waist, top, waist, top + 10), sketch.between(-50, 30));
}

void draw_pullover(Sketch& sketch) {
  const Torso torso = wide_torso(sketch, 78, 108);
  const Sleeve sleeve = long_sleeve(sketch);
  draw_sleeves(sketch, torso, sleeve, sketch.between(-35, 0));
  draw_torso(sketch, torso);
  const int ribs = sketch.between(-60, -10);
  sketch.fill(rectangle(-torso.hem, torso.bottom - 10, torso.hem, torso.bottom), ribs);
  sketch.fill(symmetric({{0, torso.top + torso.neck_depth},
                         {torso.neck, torso.top},
                         {torso.neck + 6, torso.top + 6},
                         {0, torso.top + torso.neck_depth + 12}}),
              ribs);
}

void draw_dress(Sketch& sketch) {
  const int shoulder = sketch.between(24, 44);
  const Torso torso{.neck = sketch.between(10, 18),
                    .neck_depth = sketch.between(6, 34),
                    .shoulder = shoulder,
                    .waist = std::max(shoulder - sketch.between(4, 16), 16),
                    .hem = sketch.between(34, 76),
                    .top = sketch.between(-126, -112),
                    .bottom = sketch.between(100, 128)};
  if (sketch.random.chance(30)) draw_sleeves(sketch, torso, {shoulder + 24, -50, 22}, -15);
  if (sketch.random.chance(15)) draw_sleeves(sketch, torso, {shoulder + 30, sketch.between(10, 50), 18}, -15);
  draw_torso(sketch, torso);
  if (sketch.random.chance(50)) {
    sketch.fill(rectangle(-torso.waist, -12, torso.waist, -2), sketch.between(-80, 40));  // a belt
  }
}

/// The dark gap of a coat that hangs open, or the bright strip that a shirt's buttons sit on.
void draw_front(Sketch& sketch, const Torso& torso, int half_width, int difference) {
  sketch.fill(rectangle(-half_width, torso.top + torso.neck_depth, half_width, torso.bottom), difference);
}

void draw_coat(Sketch& sketch) {
  Torso torso = wide_torso(sketch, 98, 126);
  torso.neck_depth = sketch.between(18, 46);
  const Sleeve sleeve = long_sleeve(sketch);
  draw_sleeves(sketch, torso, sleeve, sketch.between(-45, -5));
  draw_torso(sketch, torso);
  const int gap = sketch.between(2, 6);
  draw_front(sketch, torso, gap, sketch.between(-130, -35));
  sketch.fill_both_sides({{torso.neck, torso.top},
                          {torso.neck + 12, torso.top + 8},
                          {6, torso.top + torso.neck_depth + 30},
                          {3, torso.top + torso.neck_depth}},
                         sketch.between(-60, 30));  // lapels
  if (sketch.random.chance(50)) {
    sketch.fill_both_sides(rectangle(18, 42, torso.waist - 6, 49), sketch.between(-70, -30));  // pockets
  }
}

void draw_shirt(Sketch& sketch) {
  const Torso torso = wide_torso(sketch, 84, 116);
  const Sleeve sleeve = sketch.random.chance(40) ? short_sleeve(sketch) : long_sleeve(sketch);
  draw_sleeves(sketch, torso, sleeve, sketch.between(-30, 0));
  draw_torso(sketch, torso);
  const int strip = sketch.between(2, 5);
  draw_front(sketch, torso, strip, sketch.between(-35, 60));
  sketch.fill_both_sides({{0, torso.top + torso.neck_depth},
                          {torso.neck, torso.top - 6},
                          {torso.neck + 10, torso.top + 4},
                          {torso.neck - 2, torso.top + torso.neck_depth + 12}},
                         sketch.between(15, 70));  // a collar
}

/// A shoe's sole, seen from the side with the toe to the right.
struct Sole {
  int heel;
  int toe;
  int top;
  int bottom;
};

void draw_sandal(Sketch& sketch) {
  const Sole sole{-sketch.between(96, 118), sketch.between(96, 120), sketch.between(34, 62), sketch.between(66, 88)};
  const int heel_lift = sketch.between(0, 55);
  const int heel_width = sketch.between(14, 90);
  const int heel_top = sole.top - heel_lift;
  sketch.fill({{sole.heel, heel_top},
               {sole.heel + 60, heel_top + heel_lift / 3},
               {20, sole.top},
               {sole.toe, sole.top + 8},
               {sole.toe - 4, sole.bottom},
               {10, sole.bottom},
               {sole.heel + heel_width, heel_top + 22},
               {sole.heel + heel_width, sole.bottom},
               {sole.heel + 6, sole.bottom}});
  const int straps = sketch.between(2, 4);
  const int width = sketch.between(9, 17);
  const int ridge = sketch.between(-30, 0);
  for (int strap = 0; strap < straps; ++strap) {  // from the sole up to the instep, leaning back
    const int foot = 88 - strap * 34;
    const int height = ridge + (straps - strap) * 10 - 20;
    sketch.fill({{foot, sole.top + 4}, {foot - width, sole.top + 4}, {foot - 26 - width, height}, {foot - 26, height}},
                sketch.between(-40, 20));
  }
  if (sketch.random.chance(65)) {  // around the ankle
    const int top = heel_top - sketch.between(38, 70);
    sketch.fill({{sole.heel + 2, heel_top}, {sole.heel + 14, heel_top}, {sole.heel + 18, top}, {sole.heel + 4, top}});
    sketch.fill({{sole.heel + 4, top}, {-20, top - 6}, {-20, top + 8}, {sole.heel + 4, top + 14}}, -15);
  }
}

void draw_sneaker(Sketch& sketch) {
  const Sole sole{-sketch.between(104, 122), sketch.between(106, 124), sketch.between(42, 52), sketch.between(62, 78)};
  const int collar = sketch.between(-46, -4);
  const int instep = sketch.between(-14, 4);
  sketch.fill({{sole.heel + 6, sole.top},
               {sole.heel + 4, collar},
               {-72, collar + 14},
               {-34, collar + 2},
               {-18, collar - 8},
               {34, instep},
               {84, 20},
               {sole.toe - 4, sole.top}});
  sketch.fill({{sole.heel, sole.top}, {sole.toe, sole.top}, {sole.toe - 4, sole.bottom}, {sole.heel + 6, sole.bottom}},
              sketch.between(-90, 90));
  const int laces = sketch.between(0, 4);
  const int contrast = sketch.random.chance(50) ? 80 : -80;
  for (int lace = 0; lace < laces; ++lace) {
    const int x = -16 + lace * 15;
    const int y = collar + 2 + lace * (instep - collar + 8) / 4;
    sketch.fill({{x, y}, {x + 6, y}, {x - 4, y + 18}, {x - 10, y + 18}}, contrast);
  }
  if (sketch.random.chance(40)) {  // a stripe on the side
    sketch.fill({{-30, sole.top - 4}, {-14, sole.top - 4}, {26, instep + 12}, {12, instep + 10}}, -contrast);
  }
}

void draw_bag(Sketch& sketch) {
  const int top = sketch.between(-50, 0);
  const int bottom = sketch.between(60, 110);
  const int upper = sketch.between(70, 112);
  const int lower = upper + sketch.between(-14, 12);
  if (sketch.random.chance(85)) {  // a handle
    const int half = sketch.between(26, upper - 16);
    const int height = std::max(top - sketch.between(25, 75), -124);
    const int width = sketch.between(8, 16);
    sketch.fill(symmetric({{0, height}, {half / 2, height + 4}, {half, (height + top) / 2}, {half, top}, {0, top}}),
                sketch.between(-40, 20));
    sketch.cut_out(symmetric({{0, height + width},
                              {half / 2, height + 4 + width},
                              {half - width, (height + top) / 2 + width / 2},
                              {half - width, top},
                              {0, top}}));
  }
  sketch.fill(symmetric({{0, top - 2}, {upper, top}, {lower, bottom}, {0, bottom}}));
  if (sketch.random.chance(55)) {  // a flap
    const int flap = top + (bottom - top) * sketch.between(30, 60) / 100;
    sketch.fill(symmetric({{0, top}, {upper - 4, top + 3}, {upper - 14, flap}, {0, flap + 8}}),
                sketch.between(-60, 40));
    sketch.fill(rectangle(-7, flap - 4, 7, flap + 12), sketch.between(-110, 110));
  }
}

void draw_ankle_boot(Sketch& sketch) {
  const Sole sole{-sketch.between(84, 112), sketch.between(96, 120), sketch.between(64, 78), sketch.between(84, 98)};
  const int top = sketch.between(-122, -48);
  const int front = sole.heel + sketch.between(72, 104);
  const int heel_width = sketch.between(22, 70);
  const int heel_height = sketch.between(6, 26);
  sketch.fill({{sole.heel + 4, top + 4},
               {front, top},
               {front + 4, sketch.between(-20, 4)},
               {sole.toe - 26, sole.top - 42},
               {sole.toe, sole.top - 8},
               {sole.toe, sole.top},
               {sole.heel, sole.top}});
  sketch.fill({{sole.heel, sole.top},
               {sole.toe, sole.top},
               {sole.toe - 4, sole.bottom},
               {0, sole.bottom - heel_height / 2},
               {sole.heel + heel_width, sole.bottom - heel_height / 2},
               {sole.heel + heel_width, sole.bottom + heel_height},
               {sole.heel + 3, sole.bottom + heel_height}},
              sketch.between(-80, 40));
  if (sketch.random.chance(45)) {  // a zip or an elastic side
    const int middle = (sole.heel + front) / 2;
    sketch.fill({{middle - 6, top + 6}, {middle + 8, top + 6}, {middle + 4, 20}, {middle - 2, 20}},
                sketch.between(-90, 70));
  }
}

}  // namespace

void draw_garment(int label, Canvas& canvas, SeededRandom& random, int brightness) {
  using Draw = void (*)(Sketch&);
  constexpr std::array<Draw, garment_names.size()> drawings = {
      draw_t_shirt, draw_trouser, draw_pullover, draw_dress, draw_coat,
      draw_sandal,  draw_shirt,   draw_sneaker,  draw_bag,   draw_ankle_boot};
  Sketch sketch{canvas, random, brightness};
  drawings.at(static_cast<std::size_t>(label))(sketch);
}

}  // namespace convladder
