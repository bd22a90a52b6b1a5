; The installer for Windows, by Inno Setup, of the folder that PyInstaller has built:
;   iscc /DVersion=0.1.0 resources\packaging\windows-setup.iss
; Suffixes are offered through OpenWithProgids, which displaces no program that opens them now. Windows tells files
; apart by what follows the last dot, so *.taco.zip is a ZIP there, and *.tar.metadata is left to nobody.
#define Program "{app}\archive-inspector.exe"

[Setup]
AppId=org.archive_inspector.ArchiveInspector
AppName=Archive Inspector
AppVersion={#Version}
DefaultDirName={autopf}\Archive Inspector
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
ChangesAssociations=yes
LicenseFile=..\..\LICENSE
OutputDir=..\..\dist
OutputBaseFilename=archive-inspector-{#Version}-setup
UninstallDisplayIcon={#Program}

[Files]
Source: "..\..\dist\archive-inspector\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{autoprograms}\Archive Inspector"; Filename: "{#Program}"; AppUserModelID: "org.archive_inspector.ArchiveInspector"

[Registry]
Root: HKA; Subkey: "Software\Classes\ArchiveInspector.caf"; ValueType: string; ValueData: "CAF archive"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\ArchiveInspector.caf\DefaultIcon"; ValueType: string; ValueData: "{#Program},0"
Root: HKA; Subkey: "Software\Classes\ArchiveInspector.caf\shell\open\command"; ValueType: string; ValueData: """{#Program}"" ""%1"""
Root: HKA; Subkey: "Software\Classes\.caf\OpenWithProgids"; ValueType: string; ValueName: "ArchiveInspector.caf"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\ArchiveInspector.rca"; ValueType: string; ValueData: "RCA archive"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\ArchiveInspector.rca\DefaultIcon"; ValueType: string; ValueData: "{#Program},0"
Root: HKA; Subkey: "Software\Classes\ArchiveInspector.rca\shell\open\command"; ValueType: string; ValueData: """{#Program}"" ""%1"""
Root: HKA; Subkey: "Software\Classes\.rca\OpenWithProgids"; ValueType: string; ValueName: "ArchiveInspector.rca"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\ArchiveInspector.taco"; ValueType: string; ValueData: "TACO archive"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\ArchiveInspector.taco\DefaultIcon"; ValueType: string; ValueData: "{#Program},0"
Root: HKA; Subkey: "Software\Classes\ArchiveInspector.taco\shell\open\command"; ValueType: string; ValueData: """{#Program}"" ""%1"""
Root: HKA; Subkey: "Software\Classes\.tacozip\OpenWithProgids"; ValueType: string; ValueName: "ArchiveInspector.taco"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.taco\OpenWithProgids"; ValueType: string; ValueName: "ArchiveInspector.taco"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\ArchiveInspector.archive"; ValueType: string; ValueData: "Archive"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\ArchiveInspector.archive\DefaultIcon"; ValueType: string; ValueData: "{#Program},0"
Root: HKA; Subkey: "Software\Classes\ArchiveInspector.archive\shell\open\command"; ValueType: string; ValueData: """{#Program}"" ""%1"""
Root: HKA; Subkey: "Software\Classes\.zip\OpenWithProgids"; ValueType: string; ValueName: "ArchiveInspector.archive"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.zipx\OpenWithProgids"; ValueType: string; ValueName: "ArchiveInspector.archive"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.tar\OpenWithProgids"; ValueType: string; ValueName: "ArchiveInspector.archive"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.a\OpenWithProgids"; ValueType: string; ValueName: "ArchiveInspector.archive"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.ar\OpenWithProgids"; ValueType: string; ValueName: "ArchiveInspector.archive"; ValueData: ""; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.deb\OpenWithProgids"; ValueType: string; ValueName: "ArchiveInspector.archive"; ValueData: ""; Flags: uninsdeletevalue
