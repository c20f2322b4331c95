# Writes the tables that R packages carry as CSV, one folder per package: data frames, matrices, lists of columns of one length, and expression sets with their labels.
#
#   Rscript studies/tables_of_r.R LIBRARY OUT
#
# LIBRARY holds installed packages, OUT gets PACKAGE/TABLE.csv.gz. `interval_families` says which packages and where to get them.
given <- commandArgs(TRUE)
out <- given[2]
LEAST <- 100 # rows
MOST <- 60000 # rows; of longer tables every row is as likely to be kept
CELLS <- 3e7

load_all <- function(folder) {
  found <- new.env()
  data <- file.path(folder, "data")
  if (file.exists(file.path(data, "Rdata.rdb"))) lazyLoad(file.path(data, "Rdata"), envir = found)
  for (file in list.files(data, full.names = TRUE)) tryCatch(
    if (grepl("\\.(rda|rdata)$", file, ignore.case = TRUE)) {
      load(file, envir = found)
    } else if (grepl("\\.(tab|txt|csv)(\\.gz)?$", file)) {
      sep <- if (grepl("\\.csv", file)) ";" else ""
      assign(sub("\\..*$", "", basename(file)), read.table(file, header = TRUE, sep = sep, as.is = FALSE), found)
    },
    error = function(e) cat("not read:", file, "\n")
  )
  found
}

# labels that stand in another object than the features
JOINED <- list(
  caret = function(e) list(cox2 = data.frame(label = e$cox2Class, e$cox2Descr), mdrr = data.frame(label = e$mdrrClass, e$mdrrDescr)),
  HSMMSingleCell = function(e) list(HSMM = data.frame(label = e$HSMM_sample_sheet$Media, t(e$HSMM_expr_matrix[rowMeans(e$HSMM_expr_matrix > 0) > 0.5, ]))),
  qusage = function(e) list(flu = data.frame(label = e$flu.meta$Condition[match(colnames(e$eset.full), e$flu.meta$SampleID)], t(e$eset.full))),
  destiny = function(e) list(guo = data.frame(label = e$guo_norm@phenoData@data$num_cells, t(Biobase::exprs(e$guo_norm)))),
  phyloseq = function(e) list(enterotype = data.frame(label = e$enterotype@sam_data$SeqTech, t(e$enterotype@otu_table@.Data)))
)

as_table <- function(x) {
  if (isS4(x)) x <- tryCatch(if ("data" %in% slotNames(x)) x@data, error = function(e) NULL)
  if (is.matrix(x) && length(x) <= CELLS) return(as.data.frame(unclass(x)))
  if (is.data.frame(x) || is.null(x)) return(x)
  if (!is.list(x)) return(NULL)
  x <- unclass(x)
  rows <- vapply(x, function(v) if (is.matrix(v) || is.data.frame(v)) nrow(v) else if (is.atomic(v)) length(v) else 0L, 0L)
  own <- rows == max(rows, 0L)
  if (max(rows, 0L) < LEAST || sum(own) < 2) return(NULL)
  do.call(cbind.data.frame, lapply(x[own], function(v) if (is.matrix(v)) as.data.frame(unclass(v)) else v))
}

write_table <- function(x, package, name) {
  frame <- as_table(x)
  if (is.null(frame) || nrow(frame) < LEAST || nrow(frame) > 20 * MOST) return(NULL)
  frame <- as.data.frame(unclass(as.list(frame)), stringsAsFactors = FALSE, check.names = FALSE)
  frame <- frame[, vapply(frame, function(v) is.atomic(v) && is.null(dim(v)), NA), drop = FALSE]
  frame[] <- lapply(frame, function(v) if (is.numeric(v)) as.numeric(v) else as.character(v))
  if (nrow(frame) > MOST) {
    set.seed(1)
    frame <- frame[sort(sample(nrow(frame), MOST)), , drop = FALSE]
  }
  if (ncol(frame) < 2 || nrow(frame) * ncol(frame) > CELLS) return(NULL)
  dir.create(file.path(out, package), showWarnings = FALSE, recursive = TRUE)
  write.csv(frame, gzfile(file.path(out, package, paste0(name, ".csv.gz"))), row.names = FALSE)
}

for (folder in list.files(given[1], full.names = TRUE)) {
  package <- basename(folder)
  found <- load_all(folder)
  tables <- sapply(ls(found), function(name) tryCatch(get(name, found), error = function(e) NULL), simplify = FALSE)
  if (package %in% names(JOINED)) tables <- modifyList(tables, JOINED[[package]](found))
  for (name in names(tables)) tryCatch(write_table(tables[[name]], package, name), error = function(e) cat("not written:", package, name, "\n"))
}
