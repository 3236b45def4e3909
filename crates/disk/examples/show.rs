//! Prints the page of a disk profile: `cargo run --example show -- cheetah9lp`.

use idlewise_disk::{Profile, describe::Description, draw, profile};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(name) = std::env::args().nth(1) else {
        for name in profile::names() {
            println!("{name:20} {}", Profile::named(name)?.description);
        }
        return Ok(());
    };
    print!("{}", draw::page(&Description::of(&Profile::named(&name)?)?, 100));
    Ok(())
}
