import"./chunk-MZ7EAJ6G.js";
