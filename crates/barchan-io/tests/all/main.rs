//! The tests of the file formats, as one program: each program more would be linked anew, with all it is made of.

mod background;
mod checkpoint;
mod common;
mod field_back;
mod formats;
mod ground_frames;
mod mesh_broken;
mod mesh_files;
mod mesh_formats;
mod parts;
mod read_back;
mod solids;
mod terrain;
mod terrain_back;
mod vector;
