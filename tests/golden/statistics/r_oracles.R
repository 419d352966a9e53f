# Computes reference values with psych, survey and lme4 from the data of the worked examples in this folder.
# Run it in this folder: Rscript r_oracles.R > r_oracles.json

suppressPackageStartupMessages({
  library(jsonlite)
  library(lme4)
  library(psych)
  library(survey)
})

load_data <- function(name) fromJSON(paste0(name, ".json"))$data

# Shrout and Fleiss 1979: intraclass correlations by lme4 and by analysis of variance
ratings <- load_data("icc_shrout_fleiss")$ratings
icc <- ICC(ratings, lmer = FALSE)$results

# Cohen 1968: kappa with quadratic weights
kappa <- cohen.kappa(load_data("kappa_cohen1968")$table)

# A reviewed sample with strata: weighted error rate with finite-population correction
counts <- load_data("stratified_quality_review")$counts
units <- do.call(rbind, lapply(seq_len(nrow(counts)), function(i) {
  data.frame(
    tier = counts$tier[i], size = counts$N[i],
    error = rep(c(1, 0), c(counts$x[i], counts$n[i] - counts$x[i]))
  )
}))
rate <- svymean(~error, svydesign(ids = ~1, strata = ~tier, fpc = ~size, data = units))

# Van Dyke 1993, treatment 1: variance components of the correctness of rating >= 3
van_dyke <- load_data("mrmc_vandyke_auc")
digits <- function(text) as.integer(strsplit(text, "")[[1]])
truth <- digits(van_dyke$truth)
readings <- do.call(rbind, lapply(seq_along(van_dyke$`treatment 1`), function(reader) {
  rating <- digits(van_dyke$`treatment 1`[reader])
  data.frame(reader, case = seq_along(rating), correct = as.integer((rating >= 3) == (truth == 1)))
}))
fit <- lmer(correct ~ 1 + (1 | reader) + (1 | case), readings, control = lmerControl(optimizer = "bobyqa"))
components <- as.data.frame(VarCorr(fit))

cat(toJSON(list(
  versions = lapply(
    list(R = getRversion(), lme4 = packageVersion("lme4"), psych = packageVersion("psych"),
         survey = packageVersion("survey")),
    as.character
  ),
  psych_icc = setNames(as.list(icc$ICC), icc$type),
  psych_kappa = list(unweighted = kappa$kappa, quadratic = kappa$weighted.kappa),
  survey_rate = list(estimate = coef(rate)[[1]], se = SE(rate)[[1]]),
  lme4_van_dyke = setNames(as.list(components$vcov), components$grp)
), auto_unbox = TRUE, digits = NA, pretty = TRUE), "\n")
