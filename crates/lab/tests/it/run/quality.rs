//! The quality columns of the published tables, from their other columns.

use std::ops::RangeInclusive;

use lab::Averages;
use lab::measure::quality::{ModeWeights, Norm, Weights, over_both_modes, quality};
use serde_json::Value;

use crate::vectors::{float, read};

fn rows(table: &Value) -> (Vec<String>, Vec<Averages>, Vec<f64>) {
    let rows = table["rows"].as_array().unwrap();
    let averages = |row: &Value| Averages {
        delay: Some(float(&row[1]) * 60.0),
        polls_per_entry: Some(float(&row[2])),
        recall: Some(float(&row[3])),
    };
    let names = rows.iter().map(|row| row[0].as_str().unwrap().to_owned()).collect();
    let printed = rows.iter().map(|row| float(&row[7])).collect();
    (names, rows.iter().map(averages).collect(), printed)
}

#[test]
fn tables_4_11_and_4_12_have_the_quality_that_their_columns_imply() {
    let tables = read("reichert_tables");
    for name in ["4.11", "4.12"] {
        let table = &tables["tables"][name];
        let (names, rows, printed) = rows(table);
        let found = quality(&rows, Weights::default(), Norm::Best);
        for (i, found) in found.iter().enumerate() {
            let quality = found.quality.unwrap();
            // Columns are printed rounded: delays to the minute, recall to three digits.
            assert!((quality - printed[i]).abs() <= 0.0061, "{name} {}: {quality}", names[i]);
            let exact = float(&table["recomputed_G"][i]);
            assert!((quality - exact).abs() < 6e-5, "{name} {}: {quality} {exact}", names[i]);
        }
    }
}

/// Returns the possible values of a normalised column, given rounded figures: delays to the minute,
/// others to three digits.
fn feasible(table: &Value, row: usize, column: usize) -> RangeInclusive<f64> {
    let figures: Vec<f64> =
        table["rows"].as_array().unwrap().iter().map(|row| float(&row[1 + column])).collect();
    let (own, half) = (figures[row], [0.5, 0.0005, 0.0005][column]);
    let (small, large) = match column {
        2 => (own, figures.iter().copied().fold(0.0, f64::max)),
        _ => (figures.iter().copied().fold(f64::INFINITY, f64::min), own),
    };
    let (least, most) = ((small - half) / (large + half), (small + half) / (large - half));
    least - 0.0005..=most + 0.0005
}

/// Checks every table: the quality that its figures imply, and that normalised columns are
/// possible. If the vectors mark a printed value as impossible, ours equals theirs.
#[test]
fn every_table_has_the_columns_that_its_figures_imply() {
    let tables = read("reichert_tables");
    let infeasible = tables["infeasible"].as_array().unwrap();
    let mut n_corrected = 0;
    for (table_name, table) in tables["tables"].as_object().unwrap() {
        let (names, rows, _) = rows(table);
        let found = quality(&rows, Weights::default(), Norm::Best);
        for (i, found) in found.iter().enumerate() {
            let (row, quality) = (&names[i], found.quality.unwrap());
            let exact = float(&table["recomputed_G"][i]);
            assert!((quality - exact).abs() < 6e-5, "{table_name} {row}: {quality} {exact}");
            let columns = [("D", found.delay), ("APE", found.polls_per_entry), ("R", found.recall)];
            for (k, (column, value)) in columns.into_iter().enumerate() {
                let (value, printed) = (value.unwrap(), float(&table["rows"][i][4 + k]));
                let feasible = feasible(table, i, k);
                assert!(feasible.contains(&value), "{table_name} {row} {column}: {value}");
                let wrong = infeasible.iter().find(|wrong| {
                    [&wrong["table"], &wrong["row"], &wrong["column"]] == [table_name, row, column]
                });
                if let Some(wrong) = wrong {
                    n_corrected += 1;
                    assert!((value - float(&wrong["recomputed"])).abs() < 6e-5, "{row} {column}");
                    assert!(!feasible.contains(&printed));
                } else {
                    assert!(feasible.contains(&printed), "{table_name} {row} {column}: {printed}");
                }
            }
        }
    }
    assert_eq!(n_corrected, infeasible.len());
}

#[test]
fn table_4_4_is_exact() {
    let expected = &read("reichert_worked_examples")["table_4_4"];
    let policies = [
        ("A3", 200.0, 1.2, 0.98),
        ("A4", 3.0, 3.2, 0.98),
        ("A5", 6.0, 1.6, 0.98),
        ("A6", 6.0, 6.4, 0.49),
        ("A7", 24.0, 3.2, 0.98),
    ];
    let rows = policies.map(|(_, delay, ape, recall)| Averages {
        delay: Some(delay),
        polls_per_entry: Some(ape),
        recall: Some(recall),
    });
    let found = quality(&rows, Weights::default(), Norm::Best);
    for ((name, ..), found) in policies.iter().zip(found) {
        let expect = &expected[name];
        for (value, key) in [
            (found.delay, "D"),
            (found.polls_per_entry, "APE"),
            (found.recall, "R"),
            (found.quality, "Gn"),
        ] {
            assert!((value.unwrap() - float(&expect[key])).abs() < 1e-12, "{name} {key}");
        }
    }
}

/// Figures 5.8 and 5.9: all weightings, the combined values and their ranking.
#[test]
fn weighted_quality_ranks_policies_as_figure_5_9_does() {
    let tables = read("reichert_tables");
    let one = Weights::default();
    let weightings = [
        ("equal", one),
        ("D2", Weights { delay: 2.0, ..one }),
        ("APE2", Weights { polls_per_entry: 2.0, ..one }),
        ("R2", Weights { recall: 2.0, ..one }),
    ];
    let (names, by_feed, _) = rows(&tables["tables"]["4.11"]);
    let (_, by_entry, _) = rows(&tables["tables"]["4.12"]);
    for (key, weights) in weightings {
        let feeds = quality(&by_feed, weights, Norm::Best);
        let entries = quality(&by_entry, weights, Norm::Best);
        let modes: Vec<_> =
            feeds.iter().zip(&entries).map(|(f, e)| (f.quality, e.quality)).collect();
        let both = over_both_modes(&modes, ModeWeights::default(), Norm::Best);
        let expect = &tables["combined"][key];
        for (name, both) in names.iter().zip(&both) {
            let expect = float(&expect["combined"][name]);
            assert!((both.unwrap() - expect).abs() < 6e-5, "{key} {name}: {both:?} {expect}");
        }
        let mut ranked: Vec<usize> = (0..names.len()).collect();
        ranked.sort_by(|a, b| both[*b].unwrap().total_cmp(&both[*a].unwrap()));
        let ranked: Vec<&str> = ranked.into_iter().map(|i| names[i].as_str()).collect();
        let expect: Vec<&str> =
            expect["ranking"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
        assert_eq!(ranked, expect, "{key}");
    }
}

fn row(delay: f64, ape: f64, recall: f64) -> Averages {
    Averages { delay: Some(delay), polls_per_entry: Some(ape), recall: Some(recall) }
}

#[test]
fn half_the_delay_at_twice_the_polls_is_as_good() {
    let rows = [row(600.0, 2.0, 0.9), row(300.0, 4.0, 0.9), row(50.0, 50.0, 0.7)];
    let found = quality(&rows, Weights::default(), Norm::Best);
    assert!((found[0].quality.unwrap() - found[1].quality.unwrap()).abs() < 1e-12);
}

#[test]
fn a_further_policy_changes_neither_order_nor_ratios() {
    let few = [row(600.0, 2.0, 0.9), row(100.0, 9.0, 0.99), row(5000.0, 0.3, 0.5)];
    let mut more = few.to_vec();
    more.push(row(1.0, 0.1, 1.0));
    let ratio = |rows: &[Averages]| {
        let found = quality(rows, Weights::default(), Norm::Best);
        found[0].quality.unwrap() / found[1].quality.unwrap()
    };
    assert!((ratio(&few) - ratio(&more)).abs() < 1e-12);
}

#[test]
fn on_a_baseline_the_baseline_is_one_and_others_may_be_better() {
    let rows = [row(600.0, 2.0, 0.9), row(100.0, 2.0, 0.9)];
    let found = quality(&rows, Weights::default(), Norm::Baseline(0));
    assert_eq!(found[0].quality, Some(1.0));
    assert!((found[1].quality.unwrap() - 6.0_f64.cbrt()).abs() < 1e-12);
}

#[test]
fn what_is_undefined_stays_so_and_disturbs_nobody() {
    let none = Averages { delay: None, polls_per_entry: None, recall: Some(0.0) };
    let found = quality(&[row(600.0, 2.0, 0.9), none], Weights::default(), Norm::Best);
    assert_eq!((found[0].quality, found[1].quality), (Some(1.0), None));
}
