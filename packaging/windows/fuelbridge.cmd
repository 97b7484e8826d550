@rem fuelbridge on the PATH: add the folder of this file to it.
@if not defined FUELBRIDGE_CONFIG set "FUELBRIDGE_CONFIG=%ProgramData%\fuelbridge\fuelbridge.yaml"
@node "%~dp0..\..\src\launch.mjs" %*
