import"./chunk-2RBV2BPE.js";
