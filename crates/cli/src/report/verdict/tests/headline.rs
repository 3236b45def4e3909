//! The headline against the claims that it is made of.

use super::super::{Claim, Verdict};

/// Checks that the headline names the greatest price of what is to be taken, if that is twofold or more.
pub(super) fn check(verdict: &Verdict) {
    let Some(Claim::Take { scheduler, behind, .. }) =
        verdict.claims.iter().find(|claim| matches!(claim, Claim::Take { .. }))
    else {
        return;
    };
    let mut dear: Vec<_> = behind.iter().filter(|price| price.times >= 2.0).collect();
    dear.sort_by(|a, b| b.times.total_cmp(&a.times));
    let headline = verdict.headline();
    let said = |name: &str| if name == "none" { "'none'".to_owned() } else { name.to_owned() };
    let scheduler = said(scheduler);
    match dear.first() {
        None => assert_eq!(headline, format!("Take {scheduler}")),
        Some(price) => {
            let said = headline.strip_prefix(&format!("Take {scheduler}, though {} is ", said(&price.than)));
            let (times, figure) = said.and_then(|said| said.split_once(" times better in ")).unwrap();
            let times: f64 = times.replace(',', "").parse().unwrap();
            assert!((times / price.times - 1.0).abs() < 0.006 && figure == price.figure, "{headline}");
        }
    }
}
