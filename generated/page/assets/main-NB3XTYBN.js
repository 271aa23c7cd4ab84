import"./chunk-AFNUEE5H.js";
