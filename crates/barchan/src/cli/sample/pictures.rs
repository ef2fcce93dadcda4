//! Pictures of spheres that spread over a field.

use crate::cli::Failure;
use crate::cli::sdf::{Subject, folder_of};
use barchan::core::sampling::Sampling;
use barchan::core::sdf::Field;
use barchan::draw::camera::framing::{self, Aim};
use barchan::draw::field::MURK;
use barchan::draw::{FieldPicture, Image, Light, Stand};
use barchan::io::film::Film;
use barchan::io::{atomic, png};
use glam::DVec3;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Cells along the longest side of the mesh, and in the band.
const CELLS: f64 = 160.0;
const BAND: f64 = 8.0;
/// Pixels of a picture of a film or sequence, and of one of the four stages of a still.
const SIZE: [u32; 2] = [800, 600];
const STAGE: [u32; 2] = [720, 540];
/// Samples a pixel has along its side.
const SIDE: u32 = 2;
/// Pictures a second of a film, and for how many the last one stays.
const RATE: f64 = 15.0;
const LAST: usize = 30;
/// Step that the third stage shows: the spheres have found the surface and are still uneven.
const UNDER_WAY: usize = 3;

/// What is made of it.
pub enum Product {
    Still(PathBuf),
    Film(PathBuf),
    Sequence(PathBuf),
}

impl Product {
    /// By the ending of the name.
    pub fn of(path: &Path) -> Result<Product, Failure> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        let product = match ending.as_deref() {
            Some("png") if !path.is_dir() => Product::Still(path.into()),
            Some("mp4") => Product::Film(path.into()),
            None | Some("") => return Ok(Product::Sequence(path.into())),
            Some(_) if path.is_dir() => return Ok(Product::Sequence(path.into())),
            Some(other) => {
                return Err(Failure::Usage(format!(
                    "{}: barchan writes films as .mp4, stills as .png and sequences into a folder, not .{other}",
                    path.display()
                )));
            }
        };
        folder_of(path)?;
        Ok(product)
    }
}

/// A field, and from where and in which light it is seen.
#[derive(Clone)]
pub struct Sight {
    pub field: Arc<Field>,
    pub stand: Stand,
    pub light: Light,
}

impl Sight {
    pub fn of(subject: &Subject, radius: f64) -> Result<Sight, String> {
        let cell = subject.size.max_element() / CELLS;
        let field = super::field_of(subject, cell, BAND * cell)?;
        // Flat bodies are seen from higher up, so that their plan shows.
        let flatness = 1.0 - (subject.size.z / subject.size.truncate().min_element()).clamp(0.0, 1.0);
        let aim = Aim { elevation: 0.4 + 0.45 * flatness, azimuth: 0.5 };
        let hull: Vec<(DVec3, f64)> = subject.mesh.vertices.iter().map(|&v| (v, radius)).collect();
        let stand = framing::frame(&hull, aim.to_eye(), DVec3::Z, Stand::FIELD, SIZE);
        let [right, up, forward] = stand.axes();
        // Over the left shoulder.
        let to_sun = (-0.55 * right + 0.75 * up - 0.55 * forward).normalize().as_vec3();
        let light = Light { to_sun, ..Light::default() };
        Ok(Sight { field: Arc::new(field), stand, light })
    }
}

/// Pictures under way.
pub struct Pictures {
    field: FieldPicture,
    /// Depth at which a sphere below the surface is still seen [m].
    murk: f64,
    product: Product,
    film: Option<Film>,
    /// Stages of a still drawn so far.
    stages: Vec<Image>,
    seen: usize,
}

impl Pictures {
    pub fn begin(product: Product, sight: &Sight, radius: f64) -> Result<Pictures, Failure> {
        let film = match &product {
            Product::Film(path) => {
                Some(Film::create(path, SIZE[0], SIZE[1], RATE).map_err(|e| Failure::Failed(e.to_string()))?)
            }
            Product::Sequence(path) => {
                atomic::create_folder(path).map_err(|e| Failure::Failed(e.to_string()))?;
                None
            }
            Product::Still(_) => None,
        };
        let size = if matches!(product, Product::Still(_)) { STAGE } else { SIZE };
        let field = FieldPicture::new(sight.field.clone(), sight.stand, &sight.light, size, SIDE);
        let field = field.map_err(|e| Failure::Failed(e.to_string()))?;
        let mut pictures = Pictures { field, murk: MURK * radius, product, film, stages: Vec::new(), seen: 0 };
        pictures.add(&[], 1)?;
        Ok(pictures)
    }

    /// To be called at every step.
    pub fn see(&mut self, sampling: &Sampling) -> Result<(), Failure> {
        self.seen += 1;
        match self.product {
            Product::Still(_) if self.seen != 1 && self.seen != 1 + UNDER_WAY => Ok(()),
            _ => self.add(&sampling.beads(), 1),
        }
    }

    fn add(&mut self, spheres: &[(DVec3, f64)], times: usize) -> Result<(), Failure> {
        let failed = |e: &dyn std::fmt::Display| Failure::Failed(e.to_string());
        let image = self.field.draw(spheres, self.murk).map_err(|e| failed(&e))?;
        match (&self.product, &mut self.film) {
            (Product::Still(_), _) => self.stages.push(image),
            (Product::Sequence(folder), _) => {
                let path = folder.join(format!("{:06}.png", self.seen));
                png::write(&path, image.width, image.height, &image.rgba).map_err(|e| failed(&e))?;
            }
            (Product::Film(_), Some(film)) => {
                (0..times).try_for_each(|_| film.push(&image.rgba)).map_err(|e| failed(&e))?;
            }
            (Product::Film(_), None) => {}
        }
        Ok(())
    }

    /// The last picture; says where they are.
    pub fn finish(mut self, sampling: &Sampling) -> Result<String, Failure> {
        self.seen += 1;
        self.add(&sampling.beads(), LAST)?;
        let failed = |e: &dyn std::fmt::Display| Failure::Failed(e.to_string());
        Ok(match self.product {
            Product::Still(path) => {
                let sheet = sheet(&self.stages);
                png::write(&path, sheet.width, sheet.height, &sheet.rgba).map_err(|e| failed(&e))?;
                format!("{}: field, spheres injected, spreading, done", path.display())
            }
            Product::Film(path) => {
                self.film.map(Film::finish).transpose().map_err(|e| failed(&e))?;
                format!("{}: a film of {} pictures", path.display(), self.seen + LAST)
            }
            Product::Sequence(path) => format!("{}: {} pictures", path.display(), self.seen + 1),
        })
    }
}

/// Pictures of one size, two in a row.
fn sheet(stages: &[Image]) -> Image {
    let [width, height] = STAGE;
    let rows = stages.len().div_ceil(2) as u32;
    let mut sheet =
        Image { width: 2 * width, height: rows * height, rgba: vec![255; (8 * width * rows * height) as usize] };
    let row = 4 * width as usize;
    for (k, stage) in stages.iter().enumerate() {
        for y in 0..height as usize {
            let to = ((k / 2 * height as usize + y) * 2 + k % 2) * row;
            sheet.rgba[to..to + row].copy_from_slice(&stage.rgba[y * row..(y + 1) * row]);
        }
    }
    sheet
}
