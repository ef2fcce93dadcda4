use super::*;

fn plot(x: Axis, y: Axis, series: Vec<Series>) -> Plot {
    Plot { title: "a < b".into(), x, y, series }
}

/// Numbers of an attribute in the order of the drawing, from the elements that begin so.
fn numbers(svg: &str, element: &str, key: &str) -> Vec<f64> {
    let of = |line: &str| line.split(&format!(" {key}=\"")).nth(1)?.split('"').next()?.parse().ok();
    svg.lines().filter(|l| l.starts_with(element)).filter_map(of).collect()
}

/// Corners of all lines of points.
fn corners(svg: &str) -> Vec<Vec<[f64; 2]>> {
    let points = svg.lines().filter(|l| l.starts_with("<polyline")).map(|l| l.split('"').nth(1).unwrap());
    let pair = |p: &str| p.split_once(',').map(|(x, y)| [x.parse().unwrap(), y.parse().unwrap()]).unwrap();
    points.map(|p| p.split(' ').map(pair).collect()).collect()
}

fn labels(svg: &str) -> Vec<&str> {
    svg.lines().filter(|l| l.starts_with("<text")).map(|l| l.split(['>', '<']).nth(2).unwrap()).collect()
}

#[test]
fn dots_lie_on_the_line_through_them() {
    let points = vec![[1e3, 1e-4], [1e4, 1e-3], [1e5, 1e-2]];
    let svg =
        plot(Axis::log("n"), Axis::log("s"), vec![Series::dots("", points.clone()), Series::dashes("", points)]).svg();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>") && svg.contains("a &lt; b"));
    let dots: Vec<[f64; 2]> =
        numbers(&svg, "<circle", "cx").into_iter().zip(numbers(&svg, "<circle", "cy")).map(|(x, y)| [x, y]).collect();
    assert_eq!(corners(&svg), [dots]);
    assert!(["10³", "10⁵", "10⁻⁴"].iter().all(|l| labels(&svg).contains(l)), "{:?}", labels(&svg));
}

#[test]
fn linear_ticks_are_round_numbers_where_they_say() {
    let svg = plot(Axis::linear("x"), Axis::linear("y"), vec![Series::dots("", vec![[-3.0, 0.0], [7.0, 2e-6]])]).svg();
    let labels = labels(&svg);
    for what in ["−2", "0", "6", "0.0", "2.0", "×10⁻⁶"] {
        assert!(labels.contains(&what), "{what} in {labels:?}");
    }
    // The dot of y = 0 is level with the tick of 0.0.
    let zero = svg.lines().find(|l| l.ends_with(">0.0</text>")).unwrap();
    let tick = numbers(zero, "<text", "y")[0] - 4.5;
    assert!((numbers(&svg, "<circle", "cy")[0] - tick).abs() < 0.11);
}

#[test]
fn what_has_no_place_interrupts_the_line_and_stretches_no_axis() {
    let points = vec![[1.0, 1.0], [2.0, 10.0], [3.0, 0.0], [4.0, f64::NAN], [5.0, 100.0], [6.0, 10.0]];
    let lines = corners(&plot(Axis::linear("x"), Axis::log("y"), vec![Series::line("", points)]).svg());
    assert_eq!(lines.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    assert!(lines.iter().flatten().all(|p| (40.0..=384.0).contains(&p[1])));
}

#[test]
fn a_given_range_holds_and_dots_outside_it_are_left_out() {
    let x = Axis { range: Some([0.0, 1.0]), ..Axis::linear("x") };
    let svg = plot(x, Axis::linear("y"), vec![Series::rings("", vec![[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])]).svg();
    let xs = numbers(&svg, "<circle", "cx");
    let frame = svg.lines().rfind(|l| l.starts_with("<rect x=") && l.contains("fill=\"none\"")).unwrap();
    let (left, wide) = (numbers(frame, "<rect", "x")[0], numbers(frame, "<rect", "width")[0]);
    assert_eq!(xs, [left, left + wide]);
}

#[test]
fn bars_are_as_long_as_two_errors() {
    let mut dots = Series::dots("", vec![[0.0, 1.0], [1.0, 3.0]]);
    dots.errors = vec![0.5, 1.0];
    let svg = plot(Axis::linear("x"), Axis::linear("y"), vec![dots]).svg();
    let (top, low) = (numbers(&svg, "<line", "y1"), numbers(&svg, "<line", "y2"));
    let bars: Vec<f64> = svg
        .lines()
        .filter(|l| l.starts_with("<line"))
        .zip(top.iter().zip(&low))
        .filter(|(l, (a, b))| l.contains("#0072b2") && a != b)
        .map(|(_, (a, b))| (a - b).abs())
        .collect();
    let dots = numbers(&svg, "<circle", "cy");
    let unit = (dots[0] - dots[1]) / 2.0;
    assert!((bars[0] - unit).abs() < 0.2 && (bars[1] - 2.0 * unit).abs() < 0.2, "{bars:?} of {unit}");
}

#[test]
fn the_legend_keeps_clear_of_the_data() {
    let rising: Vec<[f64; 2]> = (0..100).map(|k| [f64::from(k), f64::from(k)]).collect();
    let svg = plot(Axis::linear("x"), Axis::linear("y"), vec![Series::line("rising", rising)]).svg();
    let legend = svg.lines().find(|l| l.contains("fill-opacity")).unwrap();
    let at = |key| numbers(legend, "<rect", key)[0];
    let inside = |p: &[f64; 2]| {
        p[0] > at("x") && p[0] < at("x") + at("width") && p[1] > at("y") && p[1] < at("y") + at("height")
    };
    assert!(!corners(&svg).iter().flatten().any(inside));

    let full = (0..2000).map(|k| [f64::from(k % 50), f64::from(k / 50)]).collect();
    let svg = plot(Axis::linear("x"), Axis::linear("y"), vec![Series::dots("everywhere", full)]).svg();
    let words = svg.lines().find(|l| l.contains("everywhere")).unwrap();
    assert!(numbers(words, "<text", "y")[0] > 440.0, "it stands below the drawing");
}

#[test]
fn no_points_make_an_empty_plot() {
    for axis in [Axis::linear("x"), Axis::log("x")] {
        for points in [vec![], vec![[f64::NAN, 1.0]], vec![[2.0, 2.0]], vec![[0.0, 0.0]]] {
            let svg = plot(axis.clone(), axis.clone(), vec![Series::line("one", points)]).svg();
            assert!(svg.contains("</svg>") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}

#[test]
fn the_table_reads_back_and_quotes_what_must_be() {
    let mut dots = Series::dots("ours, \"new\"", vec![[0.1, 1e-9], [2.0, f64::NAN]]);
    dots.errors = vec![0.5, 0.25];
    let table = plot(Axis::linear("x [m]"), Axis::log("y"), vec![dots, Series::rings("theirs", vec![[1.0, 2.0]])]);
    assert_eq!(
        table.csv(),
        "series,x [m],y,standard error\n\"ours, \"\"new\"\"\",0.1,1e-9,0.5\n\"ours, \"\"new\"\"\",2,NaN,0.25\ntheirs,1,2,\n"
    );
    assert!(plot(Axis::linear("x"), Axis::linear("y"), vec![]).csv() == "series,x,y\n");
}
