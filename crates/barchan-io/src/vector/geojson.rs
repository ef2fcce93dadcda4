//! GeoJSON [RFC 7946]: polygons and lines, alone, in features or in collections. The member `crs` of older files is understood where it names degrees.
//!
//! The standard wants degrees of WGS 84; files of projected coordinates are usual all the same, so coordinates are taken as they stand.

use super::{Fault, Feature, ring, sound};
use glam::DVec2;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Collections within collections that are followed.
const DEEP: usize = 16;

pub(super) fn read(text: &[u8]) -> Result<(Vec<Feature>, bool), Fault> {
    let tree: Value = serde_json::from_slice(text).map_err(|e| {
        Fault::new(format!("line {}, column {}", e.line(), e.column()), format!("no JSON ({e}): export it again"))
    })?;
    let mut all = Vec::new();
    gather(&tree, &Map::new(), &mut all, DEEP)?;
    let system = tree.pointer("/crs/properties/name").and_then(Value::as_str).unwrap_or_default();
    Ok((all, system.ends_with("CRS84") || system.ends_with(":4326")))
}

fn gather(node: &Value, properties: &Map<String, Value>, all: &mut Vec<Feature>, deep: usize) -> Result<(), Fault> {
    let kind = node.get("type").and_then(Value::as_str).unwrap_or_default();
    let list = |key: &str| node.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let place = || format!("{kind} {}", all.len() + 1);
    if deep == 0 {
        return Err(Fault::new(place(), "collections within collections, too deep: flatten the file"));
    }
    let parts = |area: bool, nested: &[Value]| -> Result<Vec<Vec<DVec2>>, Fault> {
        nested.iter().map(|part| points(part, &place).and_then(|p| if area { ring(p, place) } else { Ok(p) })).collect()
    };
    let area = kind.ends_with("Polygon");
    match kind {
        "FeatureCollection" => list("features").iter().try_for_each(|f| gather(f, properties, all, deep - 1)),
        "GeometryCollection" => list("geometries").iter().try_for_each(|f| gather(f, properties, all, deep - 1)),
        "Feature" => match node.get("geometry") {
            None | Some(Value::Null) => Ok(()),
            Some(geometry) => {
                let own = node.get("properties").and_then(Value::as_object).unwrap_or(properties);
                gather(geometry, own, all, deep - 1)
            }
        },
        "Polygon" | "LineString" | "MultiPolygon" | "MultiLineString" => {
            let lines = match kind {
                "LineString" => vec![points(node.get("coordinates").unwrap_or(&Value::Null), &place)?],
                "MultiPolygon" => {
                    let each = list("coordinates").iter().map(|p| parts(true, p.as_array().map_or(&[], Vec::as_slice)));
                    each.collect::<Result<Vec<_>, _>>()?.concat()
                }
                _ => parts(area, list("coordinates"))?,
            };
            let (mut numbers, mut words) = (BTreeMap::new(), BTreeMap::new());
            for (name, value) in properties {
                match value {
                    Value::Number(x) => drop(x.as_f64().map(|x| numbers.insert(name.to_lowercase(), x))),
                    Value::String(word) => drop(words.insert(name.to_lowercase(), word.clone())),
                    _ => {}
                }
            }
            if !lines.is_empty() {
                all.push(Feature { parts: lines, area, numbers, words });
            }
            Ok(())
        }
        "Point" | "MultiPoint" => Ok(()),
        _ => Err(Fault::new(place(), "no geometry that GeoJSON knows: export it again")),
    }
}

fn points(list: &Value, place: &impl Fn() -> String) -> Result<Vec<DVec2>, Fault> {
    let wrong = || Fault::new(place(), "its coordinates are no list of points: export it again");
    let point = |p: &Value| Some(DVec2::new(p.get(0)?.as_f64()?, p.get(1)?.as_f64()?));
    let found: Vec<DVec2> =
        list.as_array().ok_or_else(wrong)?.iter().map(point).collect::<Option<_>>().ok_or_else(wrong)?;
    sound(&found, place)?;
    Ok(found)
}

/// Areas as GeoJSON, each of one ring, with the same numbers for all.
pub fn to_geojson(rings: &[Vec<DVec2>], numbers: &[(&str, f64)]) -> String {
    let properties: Map<String, Value> = numbers.iter().map(|(name, x)| ((*name).into(), json!(x))).collect();
    let closed = |ring: &Vec<DVec2>| -> Vec<[f64; 2]> { ring.iter().chain(ring.first()).map(|p| [p.x, p.y]).collect() };
    let coordinates: Vec<_> = rings.iter().map(|r| vec![closed(r)]).collect();
    let geometry = json!({ "type": "MultiPolygon", "coordinates": coordinates });
    let feature = json!({ "type": "Feature", "properties": properties, "geometry": geometry });
    let all = json!({ "type": "FeatureCollection", "features": [feature] });
    format!("{all:#}\n")
}
