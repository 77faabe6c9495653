// @title Tiles
// @builds-on 02_tiles
// @hypothesis fewer loads
// @parameter TILE 8 16
//
// The description.
