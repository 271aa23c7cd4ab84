import"./chunk-5GGBP5LM.js";
