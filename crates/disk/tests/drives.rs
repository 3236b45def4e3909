//! The mechanical model against real drives.
use idlewise_disk::{Profile, validate};
use std::{env, fs::File, io::BufReader, path::Path};

const TARGETS: &[(&str, &str, f64)] = &[
    ("cheetah9lp", "cheetah9LP.trace", 0.025),
    ("atlas10k", "atlas10k.trace", 0.069),
    ("cheetah4lp", "cheetah4LP.trace", 0.060),
    ("hp-c3323a", "hp_c3323a.trace", 0.019),
];

#[test]
fn demerit_figures() {
    let Ok(directory) = env::var("IDLEWISE_TRACES") else {
        println!("skipped: IDLEWISE_TRACES is not set");
        return;
    };
    for &(name, file, target) in TARGETS {
        let path = Path::new(&directory).join("drives").join(file);
        let trace = validate::read_trace(BufReader::new(File::open(&path).unwrap())).unwrap();
        let mut disk = Profile::named(name).unwrap().build().unwrap();
        if env::var("DUMP").is_ok() {
            let mut d2 = disk.clone();
            let r = validate::replay(&mut d2, &trace).unwrap();
            let mut out = String::new();
            for (m, x) in trace.iter().zip(&r) {
                out += &format!(
                    "{:?} {} {} {} {} {}\n",
                    m.operation, m.start, m.length, m.service_ns, x, m.think_ns
                );
            }
            std::fs::write(format!("/tmp/{name}.out"), out).unwrap();
        }
        let d = validate::validate(&mut disk, &trace).unwrap();
        println!(
            "{name}: {:.3} ms {:.2} % (target {:.1} %) measured {:.3} model {:.3}",
            d.demerit_ns as f64 / 1e6,
            d.demerit_share * 100.0,
            target * 100.0,
            d.measured_mean_ns as f64 / 1e6,
            d.model_mean_ns as f64 / 1e6
        );
    }
}
